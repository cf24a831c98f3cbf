// SPDX-License-Identifier: MIT
// classes.cc - marks in templates, lambdas, constructors, members, namespaces.
#include "marks.h"

namespace
{

WAYMARK_EVENT(matrix, in_namespace, WAYMARK_ARGS(int, i), WAYMARK_FIELDS((i32, i, i)));

enum class color : short { red, green };
enum plain_color { blue, yellow };

template <class T> ALONE T in_template(T v)
{
	trace_mark(in_template, "size %zu v %d", sizeof(T), static_cast<int>(v));
	trace_span(template_span, (u32, size, sizeof(T)));
	return v;
}

struct base {
	int number;
	bool flag : 1;
	ALONE explicit base(int i) : number(i), flag(i & 1)
	{
		trace_mark(in_constructor, "number %d flag %d", number, flag);
		trace_event(matrix, in_namespace, i);
	}
	ALONE ~base()
	{
		trace_mark(in_destructor, "number %d", this->number);
	}
	ALONE virtual void member(const char *s) const
	{
		trace_mark(in_member, "s %s e %d b %d f %f null %p", s,
			   static_cast<int>(color::green), yellow, 1.5f, nullptr);
		trace_printf("member %d", number);
	}
};

struct derived final : base {
	using base::base;
	ALONE void member(const char *s) const override
	{
		trace_span(derived, (str, s, s));
		base::member(s);
	}
};

// Cleanups between marks: some compilers do not support several asm gotos in such a function.
struct guard {
	int *count;
	~guard()
	{
		++*count;
	}
};

ALONE int cleanups(int i)
{
	int count = 0;
	guard a{&count};
	trace_mark(cleanup_1, "i %d", i);
	{
		guard b{&count};
		trace_mark(cleanup_2, "i %d", i);
		if (i == 2)
			return count;
	}
	trace_mark(cleanup_3, "i %d count %d", i, count);
	return count;
}

} // namespace

extern "C" void classes_run(int i)
{
	in_template(i);
	in_template(static_cast<long>(i));
	in_template('c');
	derived d(i);
	const base &b = d;
	b.member("m");
	auto lambda = [i](int k) __attribute__((noinline))
	{
		trace_mark(in_lambda, "i %d k %d", i, k);
		trace_span(lambda_span);
		return i + k;
	};
	(void)lambda(5);
	(void)cleanups(i);
}
