/* SPDX-License-Identifier: MIT */
/*
 * arch.h - what differs between machines: the patched instruction, the clock,
 * the thread pointer, taking and committing a record, and calls that the
 * compiler must not see.
 *
 * Memory of ours is touched only through the volatile asm below, without a
 * "memory" clobber: so the compiler neither hoists our loads into the traced
 * program's hot path nor reloads the program's variables after a site. Order
 * is kept because volatile asm is not reordered against volatile asm, and the
 * machine keeps it (x86-64) or the releasing store imposes it (aarch64).
 *
 * Registers are scarce on purpose: while the fields are packed only the writer
 * and the place are live, and no block takes more than two more, so that a
 * dormant function pays no push for code it does not run.
 */
#ifndef WAYMARK_ARCH_H
#define WAYMARK_ARCH_H

#pragma GCC system_header

#include <waymark/abi.h>

#define WAYMARK_INLINE \
	static inline __attribute__((always_inline, unused, no_instrument_function))

/* Tells the register allocator whom to make pay: the cold side. */
#ifdef __clang__
#define WAYMARK_COLD_LABEL
#else
#define WAYMARK_COLD_LABEL __attribute__((cold));
#endif

/* "As many bytes from here as the asm likes to read." */
struct waymark_bytes {
	char bytes[65536];
};

/*
 * The type of a place in a chunk: a pointer to a type nobody has, so that no
 * variable of the program can be thought to change when a chunk is written.
 */
struct waymark_nobody;
struct waymark_cell {
	struct waymark_nobody *cell;
};
#define WAYMARK_CELL(p) (*(struct waymark_cell *)(void *)(p))
#define WAYMARK_OFFSET(member) __builtin_offsetof(struct waymark_writer, member)

#ifdef __cplusplus
extern "C" {
#endif
/* Weak: one per module, whichever unit comes first. Hidden: never another module's. */
extern struct waymark_module waymark_module __attribute__((visibility("hidden")));
#ifdef __cplusplus
}
#endif

#if defined(__x86_64__)

/*
 * The site: `test $imm32, %eax` (A9) whose immediate is the distance to the
 * cold code, so that writing the one byte E9 makes it `jmp cold`.
 */
#define WAYMARK_SITE_INSN \
	"771:\t.byte 0xa9\n" \
	"\t.long %l[on] - . - 4\n"
#define WAYMARK_SYMBOL "i"
#define WAYMARK_OPERAND(n) "%c" #n

#define WAYMARK_LOAD(ret, p, member) \
	__asm__ volatile("movq %c2(%1), %0" : "=r"(ret) : "r"(p), "i"(WAYMARK_OFFSET(member)))
#define WAYMARK_LOAD_STATIC(ret, lvalue) \
	__asm__ volatile("movq %1, %0" : "=r"(ret) : "m"(lvalue))

WAYMARK_INLINE void waymark_put8(unsigned char *p, uint8_t v)
{
	__asm__ volatile("movb %b1, %0" : "=m"(WAYMARK_CELL(p)) : "q"(v));
}
WAYMARK_INLINE void waymark_put16(unsigned char *p, uint16_t v)
{
	__asm__ volatile("movw %w1, %0" : "=m"(WAYMARK_CELL(p)) : "r"(v));
}
WAYMARK_INLINE void waymark_put32(unsigned char *p, uint32_t v)
{
	__asm__ volatile("movl %k1, %0" : "=m"(WAYMARK_CELL(p)) : "re"(v));
}
WAYMARK_INLINE void waymark_put64(unsigned char *p, uint64_t v)
{
	__asm__ volatile("movq %1, %0" : "=m"(WAYMARK_CELL(p)) : "re"(v));
}
WAYMARK_INLINE void waymark_putf32(unsigned char *p, float v)
{
	__asm__ volatile("movss %1, %0" : "=m"(WAYMARK_CELL(p)) : "x"(v));
}
WAYMARK_INLINE void waymark_putf64(unsigned char *p, double v)
{
	__asm__ volatile("movsd %1, %0" : "=m"(WAYMARK_CELL(p)) : "x"(v));
}

/* Takes the level: the one above is current while we are busy. Returns the writer. */
WAYMARK_INLINE struct waymark_writer *waymark_busy(void)
{
	struct waymark_writer *w;
	__asm__ volatile("movq %1, %%rax\n\t"
			 "movq %%fs:(%%rax), %0\n\t"
			 "movq %c2(%0), %%rdx\n\t"
			 "addq %0, %%rdx\n\t"
			 "movq %%rdx, %%fs:(%%rax)\n\t"
			 "movq %%rsp, %c3(%0)"
			 : "=&r"(w)
			 : "m"(waymark_module.writer_offset), "i"(WAYMARK_OFFSET(step)),
			   "i"(WAYMARK_OFFSET(sp))
			 : "rax", "rdx", "cc");
	return w;
}

/* Our writer again: while we are busy the level above it is current. */
#define WAYMARK_MINE_RAX_ \
	"movq %[offset], %%rax\n\t" \
	"movq %%fs:(%%rax), %%rax\n\t"
WAYMARK_INLINE struct waymark_writer *waymark_mine(void)
{
	struct waymark_writer *w;
	__asm__ volatile(WAYMARK_MINE_RAX_ "subq $64, %%rax"
			 : "=a"(w)
			 : [offset] "m"(waymark_module.writer_offset)
			 : "cc");
	return w;
}

WAYMARK_INLINE void waymark_idle(void)
{
	__asm__ volatile("movq %0, %%rax\n\t"
			 "subq $64, %%fs:(%%rax)"
			 :
			 : "m"(waymark_module.writer_offset)
			 : "rax", "cc");
}

/*
 * Two registers besides q. The word is in the chunk already; time << 16 is in
 * rax, our writer + 64 in rdx. See emit.h for the order of the stores.
 */
#define WAYMARK_COMMIT_TEXT_ \
	"movq %c[pos]-64(%%rdx), %%rdx\n\t" \
	"orq %%rax, (%%rdx)\n\t" /* the header is whole */ \
	"movq %[offset], %%rax\n\t" \
	"movq %%fs:(%%rax), %%rax\n\t" /* writer + 64 */ \
	"subq %c[base]-64(%%rax), %%rdx\n\t" \
	"movq %[q], %c[pos]-64(%%rax)\n\t" \
	"subq %c[base]-64(%%rax), %[q]\n\t" \
	"shlq $17, %%rdx\n\t" /* start / 8 << 20 */ \
	"shrq $3, %[q]\n\t" \
	"orq %[q], %%rdx\n\t" \
	"movq %c[count]-64(%%rax), %[q]\n\t" \
	"addq $1, %[q]\n\t" \
	"movq %[q], %c[count]-64(%%rax)\n\t" \
	"shlq $40, %[q]\n\t" \
	"orq %[q], %%rdx\n\t" \
	"movq %c[base]-64(%%rax), %[q]\n\t" \
	"movq %%rdx, (%[q])\n\t" /* the record exists. A release: TSO */ \
	"leaq -64(%%rax), %%rax\n\t" \
	"movq %[offset], %%rdx\n\t" \
	"movq %%rax, %%fs:(%%rdx)" /* idle */
#define WAYMARK_COMMIT_OPERANDS_ \
	: [q] "+r"(q) \
	: [offset] "m"(waymark_module.writer_offset), [count] "i"(WAYMARK_OFFSET(count)), \
	  [pos] "i"(WAYMARK_OFFSET(pos)), [base] "i"(WAYMARK_OFFSET(base)), \
	  [last] "i"(WAYMARK_OFFSET(last)) \
	: "rax", "rdx", "cc"

/* Stamps and publishes the record that ends at q (a multiple of 8), and leaves the level. */
WAYMARK_INLINE void waymark_commit(unsigned char *q)
{
	__asm__ volatile("rdtsc\n\t"
			 "shlq $48, %%rdx\n\t"
			 "shlq $16, %%rax\n\t"
			 "orq %%rdx, %%rax\n\t"
			 "movq %[offset], %%rdx\n\t"
			 "movq %%fs:(%%rdx), %%rdx\n\t"
			 "movq %%rax, %c[last]-64(%%rdx)\n\t" WAYMARK_COMMIT_TEXT_
				 WAYMARK_COMMIT_OPERANDS_);
}
/* The same with the time of the record before. */
WAYMARK_INLINE void waymark_commit_unstamped(unsigned char *q)
{
	__asm__ volatile("movq %[offset], %%rdx\n\t"
			 "movq %%fs:(%%rdx), %%rdx\n\t"
			 "movq %c[last]-64(%%rdx), %%rax\n\t" WAYMARK_COMMIT_TEXT_
				 WAYMARK_COMMIT_OPERANDS_);
}

/*
 * Calls a runtime entry: first argument and result in rax, then rdx and rcx,
 * every other register preserved, over the red zone of a leaf function.
 */
#define WAYMARK_CALL_TEXT_ \
	"leaq -128(%%rsp), %%rsp\n\t" \
	"callq *%[entry]\n\t" \
	"leaq 128(%%rsp), %%rsp"
#define WAYMARK_CALL1(ret, member, a) \
	__asm__ volatile(WAYMARK_CALL_TEXT_ \
			 : "=a"(ret) \
			 : [entry] "m"(waymark_module.member), "0"(a) \
			 : "cc")
/* For an entry that reads the traced program's memory at b. */
#define WAYMARK_CALL_READS(ret, member, a, b, c) \
	__asm__ volatile(WAYMARK_CALL_TEXT_ \
			 : "=a"(ret) \
			 : [entry] "m"(waymark_module.member), "0"(a), "d"(b), "c"(c), \
			   "m"(*(const struct waymark_bytes *)(b)) \
			 : "cc")
/* For an entry that wants addresses known to the linker as b and c. */
#define WAYMARK_CALL_SYMBOLS(ret, member, a, b, c) \
	__asm__ volatile("leaq %c[symbol_b](%%rip), %%rdx\n\t" \
			 "leaq %c[symbol_c](%%rip), %%rcx\n\t" WAYMARK_CALL_TEXT_ \
			 : "=a"(ret) \
			 : [entry] "m"(waymark_module.member), "0"(a), [symbol_b] "i"(b), \
			   [symbol_c] "i"(c) \
			 : "rdx", "rcx", "cc")

#elif defined(__aarch64__)

#define WAYMARK_SITE_INSN "771:\tnop\n"
#define WAYMARK_SYMBOL "S"
#define WAYMARK_OPERAND(n) "%" #n

#define WAYMARK_LOAD(ret, p, member) \
	__asm__ volatile("ldr %0, [%1, %2]" : "=r"(ret) : "r"(p), "i"(WAYMARK_OFFSET(member)))
#define WAYMARK_LOAD_STATIC(ret, lvalue) \
	__asm__ volatile("ldr %0, %1" : "=r"(ret) : "m"(lvalue))

WAYMARK_INLINE void waymark_put8(unsigned char *p, uint8_t v)
{
	__asm__ volatile("strb %w1, %0" : "=m"(WAYMARK_CELL(p)) : "r"(v));
}
WAYMARK_INLINE void waymark_put16(unsigned char *p, uint16_t v)
{
	__asm__ volatile("strh %w1, %0" : "=m"(WAYMARK_CELL(p)) : "r"(v));
}
WAYMARK_INLINE void waymark_put32(unsigned char *p, uint32_t v)
{
	__asm__ volatile("str %w1, %0" : "=m"(WAYMARK_CELL(p)) : "r"(v));
}
WAYMARK_INLINE void waymark_put64(unsigned char *p, uint64_t v)
{
	__asm__ volatile("str %1, %0" : "=m"(WAYMARK_CELL(p)) : "r"(v));
}
WAYMARK_INLINE void waymark_putf32(unsigned char *p, float v)
{
	__asm__ volatile("str %s1, %0" : "=m"(WAYMARK_CELL(p)) : "w"(v));
}
WAYMARK_INLINE void waymark_putf64(unsigned char *p, double v)
{
	__asm__ volatile("str %d1, %0" : "=m"(WAYMARK_CELL(p)) : "w"(v));
}

WAYMARK_INLINE struct waymark_writer *waymark_busy(void)
{
	struct waymark_writer *w;
	__asm__ volatile("mrs x16, tpidr_el0\n\t"
			 "ldr x17, %1\n\t"
			 "add x16, x16, x17\n\t"
			 "ldr %0, [x16]\n\t"
			 "ldr x17, [%0, %2]\n\t"
			 "add x17, %0, x17\n\t"
			 "str x17, [x16]\n\t"
			 "mov x17, sp\n\t"
			 "str x17, [%0, %3]"
			 : "=&r"(w)
			 : "m"(waymark_module.writer_offset), "i"(WAYMARK_OFFSET(step)),
			   "i"(WAYMARK_OFFSET(sp))
			 : "x16", "x17");
	return w;
}

WAYMARK_INLINE struct waymark_writer *waymark_mine(void)
{
	struct waymark_writer *w;
	__asm__ volatile("mrs x16, tpidr_el0\n\t"
			 "ldr x17, %1\n\t"
			 "ldr %0, [x16, x17]\n\t"
			 "sub %0, %0, 64"
			 : "=r"(w)
			 : "m"(waymark_module.writer_offset)
			 : "x16", "x17");
	return w;
}

WAYMARK_INLINE void waymark_idle(void)
{
	struct waymark_writer *w = waymark_mine();
	__asm__ volatile("mrs x16, tpidr_el0\n\t"
			 "ldr x17, %0\n\t"
			 "str %1, [x16, x17]"
			 :
			 : "m"(waymark_module.writer_offset), "r"(w)
			 : "x16", "x17");
}

#define WAYMARK_STORE_(w, member, value) \
	__asm__ volatile("str %0, [%1, %2]" : : "r"(value), "r"(w), "i"(WAYMARK_OFFSET(member)))
#define WAYMARK_COMMIT_(q, time) \
	do { \
		struct waymark_writer *w_ = waymark_mine(); \
		unsigned char *start_, *base_; \
		uint64_t last_, count_, word_; \
		WAYMARK_LOAD(start_, w_, pos); \
		WAYMARK_LOAD(base_, w_, base); \
		WAYMARK_LOAD(count_, w_, count); \
		time; \
		__asm__ volatile("ldr %0, [%1]" : "=r"(word_) : "r"(start_)); \
		waymark_put64(start_, word_ | last_); \
		count_++; \
		WAYMARK_STORE_(w_, last, last_); \
		WAYMARK_STORE_(w_, pos, q); \
		WAYMARK_STORE_(w_, count, count_); \
		count_ = count_ << 40 | (uint64_t)(start_ - base_) << 17 | (uint64_t)(q - base_) >> 3; \
		__asm__ volatile("stlr %0, [%1]" : : "r"(count_), "r"(base_)); \
		waymark_idle(); \
	} while (0)
WAYMARK_INLINE void waymark_commit(unsigned char *q)
{
	WAYMARK_COMMIT_(
		q, __asm__ volatile("mrs %0, cntvct_el0\n\tlsl %0, %0, 16" : "=r"(last_)));
}
WAYMARK_INLINE void waymark_commit_unstamped(unsigned char *q)
{
	WAYMARK_COMMIT_(q, WAYMARK_LOAD(last_, w_, last));
}

/*
 * Calls a runtime entry: arguments in x0, x1, x2, result in x0; x16 and x17
 * are lost, the link register is saved here, the rest is preserved.
 */
#define WAYMARK_CALL_(ret, entry, a, b, c, ...) \
	do { \
		register uint64_t waymark_x0_ __asm__("x0") = (uint64_t)(uintptr_t)(a); \
		register uint64_t waymark_x1_ __asm__("x1") = (uint64_t)(uintptr_t)(b); \
		register uint64_t waymark_x2_ __asm__("x2") = (uint64_t)(uintptr_t)(c); \
		__asm__ volatile("ldr x16, %3\n\t" \
				 "stp x29, x30, [sp, #-16]!\n\t" \
				 "blr x16\n\t" \
				 "ldp x29, x30, [sp], #16" \
				 : "+r"(waymark_x0_) \
				 : "r"(waymark_x1_), "r"(waymark_x2_), "m"(entry), __VA_ARGS__ \
				 : "x16", "x17", "cc"); \
		(ret) = (__typeof__(ret))waymark_x0_; \
	} while (0)
#define WAYMARK_CALL1(ret, member, a) WAYMARK_CALL_(ret, waymark_module.member, a, 0, 0, "i"(0))
#define WAYMARK_CALL_READS(ret, member, a, b, c) \
	WAYMARK_CALL_(ret, waymark_module.member, a, b, c, "Q"(*(const struct waymark_bytes *)(b)))
#define WAYMARK_CALL_SYMBOLS(ret, member, a, b, c) \
	WAYMARK_CALL_(ret, waymark_module.member, a, b, c, "i"(0))

#else
#error "waymark: this machine is not supported; build with -DWAYMARK_DISABLE"
#endif

/*
 * The place for a record with `fixed` bytes of fields, behind its header, where
 * the word already is; or 0 when the chunk has no room for it.
 */
#define waymark_open(w, word, fixed) \
	__extension__({ \
		unsigned char *start_, *end_; \
		WAYMARK_LOAD(start_, w, pos); \
		WAYMARK_LOAD(end_, w, end); \
		if (__builtin_expect((int64_t)(end_ - start_) >= (int64_t)(8 + (fixed)), 1)) { \
			waymark_put64(start_, word); \
			start_ += 8; \
		} else { \
			start_ = 0; \
		} \
		start_; \
	})

#endif
