/* SPDX-License-Identifier: MIT */
/* probe_values.c - functions whose parameters and variables test/probe_values.bats compares. */
#include <complex.h>
#include <stdbool.h>

enum color { RED = 1, GREEN = -7 };
struct bits {
	unsigned a : 3;
	int b : 9;
	long long c : 40;
	signed char d : 3;
	bool e : 1;
};
struct __attribute__((packed)) packed {
	unsigned a : 5;
	int b : 30;
	char c;
	long d : 45;
};
union either {
	struct bits bits;
	int whole;
};
struct nested {
	short pad;
	struct {
		union either u;
		struct bits in[2];
	};
	const char *name;
	struct nested *next;
	enum color color;
	float f;
	double d[2];
	unsigned char bytes[4];
	int grid[2][3];
};
struct doubles {
	double d[2];
};
struct floats {
	float f[4];
};
struct ints {
	int i[4];
};
struct odd {
	char c;
	long l;
} __attribute__((packed));
struct big {
	long l[5];
};
typedef float vector __attribute__((vector_size(16)));

static long outside = -123456789012;

#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")

__attribute__((noinline)) int plain(int i, const char *text, bool yes, char c, enum color color,
				    unsigned long big, short s, signed char last)
{
	__asm__ volatile("" : "+r"(i), "+r"(text), "+r"(big));
	return i + *text + yes + c + color + (int)big + s + last;
}

__attribute__((noinline)) int shapes(struct doubles a, int i1, struct floats b, int i2,
				     struct ints c, int i3, struct odd d, int i4, float _Complex e,
				     int i5, vector v, int i6, struct big g, int i7)
{
	__asm__ volatile("" : "+r"(i1), "+r"(i2), "+r"(i3));
	return (int)a.d[0] + i1 + (int)b.f[0] + i2 + c.i[3] + i3 + d.c + i4 + (int)crealf(e) + i5 +
	       (int)v[0] + i6 + (int)g.l[4] + i7;
}

__attribute__((noinline)) int stack(long a, long b, long c, long d, long e, long f, int s1,
				    long double x, char s2, struct big g, short s3)
{
	__asm__ volatile("" : "+r"(a));
	return (int)(a + b + c + d + e + f) + s1 + (int)x + s2 + (int)g.l[0] + s3;
}

__attribute__((noinline)) struct big returns(int i, struct bits *p)
{
	struct big r = {{i, p->b}};
	KEEP(&r);
	return r;
}

__attribute__((noinline)) int through(struct nested *n, struct packed *p)
{
	__asm__ volatile("" : "+r"(n), "+r"(p));
	return n->pad + p->c;
}

static __attribute__((noinline)) int removed(int unused, int used)
{
	__asm__ volatile("" : "+r"(used));
	return used;
}

static __attribute__((noinline)) int stored(int unused, int used)
{
	KEEP(&used);
	return used;
}

static inline __attribute__((always_inline)) int inner(int k, struct bits *p)
{
	int twice = k * 2;
	__asm__ volatile("" : "+r"(twice), "+r"(p));
	return twice + p->b;
}

__attribute__((noinline)) int outer(int j, struct bits *p)
{
	static int calls;
	int local = j + 40;
	KEEP(&local);
	calls += 3;
	return inner(j, p) + local + calls; /* LINE outer */
}

int main(int argc, char **argv)
{
	struct bits bits = {5, -100, -0x123456789a, -2, 1};
	struct packed packed = {21, -77777777, 'p', -0x123456789ab};
	struct nested last = {.pad = -3, .name = "last", .color = GREEN};
	struct nested n = {.pad = 300,
			   .u.bits = bits,
			   .in = {bits, {1, 2, 3, -4, 0}},
			   .name = "first",
			   .next = &last,
			   .color = RED,
			   .f = -1.25f,
			   .d = {2.5, -1e100},
			   .bytes = {1, 200, 3, 4},
			   .grid = {{1, -2, 3}, {4, 5, -6}}};
	struct big g = {{10, 20, 30, 40, 50}};
	int r = 0;

	KEEP(&bits);
	KEEP(&packed);
	KEEP(&n);
	KEEP(&last);
	KEEP(&g);
	r += plain(-argc, "a text", true, 'c', GREEN, 0xfedcba9876543210, -4, -5);
	r += shapes((struct doubles){{1, 2}}, 11, (struct floats){{1, 2, 3, 4}}, -12,
		    (struct ints){{1, 2, 3, 4}}, 13, (struct odd){1, 2}, -14, 1.0f + 2.0f * I, 15,
		    (vector){1, 2, 3, 4}, -16, g, 17);
	r += stack(1, 2, 3, 4, 5, 6, -77, 1.5L, 'z', g, -99);
	r += (int)returns(-21, &bits).l[0];
	r +=
	    through(&n, &packed) + removed(5, -6) + stored(7, -8) + outer(-9, &bits) + (int)outside;
	return r == 42 && argv;
}
