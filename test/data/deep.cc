// SPDX-License-Identifier: MIT
// deep.cc - a C++ program with deep stacks, templates, virtual calls, and callbacks that libc
// calls.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

namespace app
{
template <class T> struct Worker {
	std::map<int, T> map;
	std::vector<T> values;

	__attribute__((noinline)) void fill(int n)
	{
		for (int i = 0; i < n; i++) {
			map[(i * 7919) % 1000] += i;
			values.push_back(T(i % 13));
		}
	}

	__attribute__((noinline)) void sort()
	{
		std::sort(values.begin(), values.end(),
			  [](const T &a, const T &b) { return a < b; });
	}

	__attribute__((noinline)) long sum(int n)
	{
		long s = 0;

		for (auto &x : values)
			s += static_cast<long>(x) * n;
		return s;
	}
};
} // namespace app

struct Runner {
	virtual long run(int depth) = 0;
	virtual ~Runner()
	{
	}
};

struct Again : Runner {
	long run(int depth) override;
};

__attribute__((noinline)) static long descend(Runner *r, int depth)
{
	volatile char room[200];

	room[depth % 200] = static_cast<char>(depth);
	if (depth)
		return r->run(depth - 1) + room[depth % 200];
	app::Worker<long> w;
	w.fill(3000);
	w.sort();
	return w.sum(3);
}

long Again::run(int depth)
{
	long r = descend(this, depth);

	__asm__ volatile("" ::"r"(r)); // prevents a tail call
	return r + 1;
}

static int compare(const void *a, const void *b)
{
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
	static int numbers[2000];
	Again again;
	long total = 0;

	for (int i = 0; i < rounds; i++) {
		total += descend(&again, 10);
		for (int k = 0; k < 2000; k++)
			numbers[k] = (k * 7919 + i) % 10007;
		std::qsort(numbers, 2000, sizeof(numbers[0]), compare);
	}
	std::printf("%ld\n", total);
	return 0;
}
