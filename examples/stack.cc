// SPDX-License-Identifier: MIT
//
// stack.cc - C++: marks in a template. Each instance has a site of its own; all
// sites belong to one event. `waymark list --fields ./stack` lists the sites.
//
//   waymark record -o /tmp/stack -- ./stack
#include <cstdio>
#include <string>
#include <vector>

#include <waymark/tracepoint.h>

WAYMARK_EVENT(stack, push, WAYMARK_ARGS(const char *, type, std::size_t, depth),
	      WAYMARK_FIELDS((str, type, type), (u64, depth, depth)));
WAYMARK_EVENT(stack, pop, WAYMARK_ARGS(std::size_t, depth), WAYMARK_FIELDS((u64, depth, depth)),
	      WAYMARK_LEVEL(DEBUG));

template <typename T> class Stack
{
      public:
	void push(T value)
	{
		items.push_back(std::move(value));
		trace_event(stack, push, sizeof(T) > sizeof(int) ? "big" : "small", items.size());
	}
	T pop()
	{
		trace_event(stack, pop, items.size());
		T value = std::move(items.back());
		items.pop_back();
		return value;
	}

      private:
	std::vector<T> items;
};

int main()
{
	trace_span(main);
	Stack<int> numbers;
	Stack<std::string> words;

	for (int i = 0; i < 3; i++)
		numbers.push(i);
	words.push("hello");
	std::printf("%d %s\n", numbers.pop(), words.pop().c_str());
	return 0;
}
