/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the machine-dependent parts: the patched instruction, the clock, the thread pointer,
 * opening and committing a record, and calls that the compiler does not see.
 *
 * The runtime's memory is accessed only through the volatile asm below, without a "memory" clobber:
 * so that the compiler neither hoists these loads into the traced program's hot path nor reloads
 * the program's variables after a site. Order is kept because volatile asm is not reordered against
 * volatile asm, and the machine keeps it (x86-64) or the releasing store imposes it (aarch64).
 *
 * Registers are used sparingly: while the fields are packed, only the writer and the position are
 * live, and no asm block uses more than one other register on x86-64 (two on aarch64), so that a
 * dormant function need not push registers for code that it does not execute: nine registers are
 * free at a site, and six of them may hold arguments.
 */
#ifndef WAYMARK_ARCH_H
#define WAYMARK_ARCH_H

#pragma GCC system_header

#include <waymark/abi.h>

#define WAYMARK_INLINE \
	static inline __attribute__((always_inline, unused, no_instrument_function))

/* Makes the register allocator put spills into the cold code. */
#ifdef __clang__
#define WAYMARK_COLD_LABEL
#else
#define WAYMARK_COLD_LABEL __attribute__((cold));
#endif

/* A memory operand for asm that reads an unknown number of bytes starting at p. */
#ifdef __clang__
struct waymark_bytes {
	char bytes[65536];
};
#define WAYMARK_BYTES(p) (*(const struct waymark_bytes *)(p))
#else
/* With a size, gcc would warn about small arrays. */
#define WAYMARK_BYTES(p) (*(const char(*)[])(p))
#endif

/*
 * The type of a position in a chunk: a pointer to a type that no other code uses, so the compiler
 * knows that writing to a chunk does not change the program's variables.
 */
struct waymark_nobody;
struct waymark_cell {
	struct waymark_nobody *cell;
};
#define WAYMARK_CELL(p) (*(struct waymark_cell *)(void *)(p))
#define WAYMARK_OFFSET(member) __builtin_offsetof(struct waymark_writer, member)

/*
 * The upper half of an event's word, which contains the flags. It has 32 bits, so that the compiler
 * needs no 64-bit constant, which it would load before a loop.
 */
#define WAYMARK_HIGH_HALF(word) (((const uint32_t *)(const void *)&(word))[1])
#define WAYMARK_BITS_COMPLEX ((uint32_t)(WAYMARK_WORD_COMPLEX >> 32))
#define WAYMARK_BITS_RECORD ((uint32_t)(WAYMARK_WORD_RECORD >> 32))
#define WAYMARK_BITS_PROBES ((uint32_t)(WAYMARK_WORD_PROBES >> 32))

#ifdef __cplusplus
extern "C" {
#endif
/* Weak: one per module, defined by its first unit. Hidden: never another module's. */
extern struct waymark_module waymark_module __attribute__((visibility("hidden")));
#ifdef __cplusplus
}
#endif

/*
 * The asm moves the stack pointer, but the compiler's unwind tables do not record this. So an
 * unwinder (when a thread is cancelled here) must see the end of the stack instead of following a
 * value that is not a return address.
 */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define WAYMARK_UNWIND_ENDS_(ra) ".cfi_remember_state\n\t.cfi_undefined " #ra "\n\t"
#define WAYMARK_UNWIND_GOES_ON_ ".cfi_restore_state"
#else
#define WAYMARK_UNWIND_ENDS_(ra)
#define WAYMARK_UNWIND_GOES_ON_
#endif

#if defined(__x86_64__)

/*
 * The site: `test $imm32, %eax` (A9) whose immediate is the distance to the cold code, so that
 * writing the one byte E9 makes it `jmp cold`.
 */
#define WAYMARK_SITE_INSN \
	"771:\t.byte 0xa9\n" \
	"\t.long %l[on] - . - 4\n"
#define WAYMARK_SYMBOL "i"
#define WAYMARK_OPERAND(n) "%c" #n

#define WAYMARK_LOAD(ret, p, member) \
	__asm__ volatile("movq %c2(%1), %0" : "=r"(ret) : "r"(p), "i"(WAYMARK_OFFSET(member)))
#if defined(__clang__) && !defined(__OPTIMIZE__) && !defined(__cplusplus)
#define WAYMARK_LOAD_STATIC(ret, lvalue) \
	__asm__ volatile("movq %1, %0" : "=r"(ret) : "m"(lvalue))
/*
 * Not "m": its address could be put into a register before the loop, or into one that is used here.
 */
#else
#define WAYMARK_LOAD_STATIC(ret, lvalue) \
	__asm__ volatile("movq %c1(%%rip), %0" : "=r"(ret) : "i"(&(lvalue)))
#endif
#define WAYMARK_LOAD_BITS(ret, lvalue) \
	__asm__ volatile("movl %1, %0" : "=r"(ret) : "m"(WAYMARK_HIGH_HALF(lvalue)))

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

/*
 * Marks the current level as busy: the next level becomes current. Returns the writer. The stack
 * pointer is stored first. If a signal handler interrupts here and traces, the runtime can then
 * tell that this emit is still in progress (wm_thread_take_back()).
 */
WAYMARK_INLINE struct waymark_writer *waymark_busy(void)
{
	struct waymark_writer *w, *above;
	__asm__ volatile("movq %c2(%%rip), %%rax\n\t"
			 "movq %%fs:(%%rax), %0\n\t"
			 "movq %c3(%0), %1\n\t"
			 "addq %0, %1\n\t"
			 "movq %%rsp, %c4(%0)\n\t"
			 "movq %1, %%fs:(%%rax)"
			 : "=&r"(w), "=&r"(above)
			 : "i"(&waymark_module.writer_offset), "i"(WAYMARK_OFFSET(step)),
			   "i"(WAYMARK_OFFSET(sp))
			 : "rax", "cc");
	return w;
}

/*
 * Opens a record. waymark_open_record(q, w, fixed, stamp) returns true and replaces q, the event's
 * word, with the position of the record; or returns false when the chunk has no room for `fixed`
 * bytes of fields. The header combines the time, which is also saved for the next record, and the
 * word. While the clock is read, the word is in the record and rdx in q, so that q and rax suffice.
 * If q still holds the word, it is an id, not a position.
 */
#define WAYMARK_OPEN_TEXT_ \
	"movq %c[pos](%[w]), %%rax\n\t" \
	"subq %c[end](%[w]), %%rax\n\t" \
	"cmpq %[room], %%rax\n\t" \
	"jg 1f\n\t"
#define WAYMARK_OPEN_STAMP_ \
	"movq %c[pos](%[w]), %%rax\n\t" \
	"movq %[q], (%%rax)\n\t" \
	"movq %%rdx, %[q]\n\t" \
	"rdtsc\n\t" \
	"shlq $48, %%rdx\n\t" \
	"shlq $16, %%rax\n\t" \
	"orq %%rdx, %%rax\n\t" \
	"movq %[q], %%rdx\n\t" \
	"movq %%rax, %c[last](%[w])\n\t" \
	"movq %c[pos](%[w]), %[q]\n\t" \
	"orq (%[q]), %%rax\n\t"
#define WAYMARK_OPEN_AGAIN_ /* uses the time of the preceding record */ \
	"movq %c[last](%[w]), %%rax\n\t" \
	"orq %[q], %%rax\n\t" \
	"movq %c[pos](%[w]), %[q]\n\t"
#define WAYMARK_OPEN_END_ \
	"movq %%rax, (%[q])\n\t" \
	"prefetchw 256(%[q])\n" /* prefetches the records after this one */ \
	"1:"
#define WAYMARK_OPEN_(text, q_, w_, fixed) \
	__asm__ volatile(WAYMARK_OPEN_TEXT_ text WAYMARK_OPEN_END_ \
			 : [q] "+r"(q_) \
			 : [w] "r"(w_), [room] "i"(-(int64_t)(8 + (fixed))), \
			   [pos] "i"(WAYMARK_OFFSET(pos)), [end] "i"(WAYMARK_OFFSET(end)), \
			   [last] "i"(WAYMARK_OFFSET(last)) \
			 : "rax", "cc")
#define waymark_open_record(q, w, fixed, stamp) \
	__extension__({ \
		if (stamp) \
			WAYMARK_OPEN_(WAYMARK_OPEN_STAMP_, q, w, fixed); \
		else \
			WAYMARK_OPEN_(WAYMARK_OPEN_AGAIN_, q, w, fixed); \
		(uintptr_t)(q) > 0xffff; \
	})

/*
 * Publishes the record that ends at q (a multiple of 8), and ends the emit of this level:
 *   rax = 1 << 40 | (q - pos) / 8       added to the tally
 *   commit word = new tally | old end << 20
 */
WAYMARK_INLINE void waymark_commit(struct waymark_writer *w, unsigned char *q)
{
	__asm__ volatile("movq %[q], %%rax\n\t"
			 "subq %c[pos](%[w]), %%rax\n\t"
			 "movq %[q], %c[pos](%[w])\n\t"
			 "movl %c[tally](%[w]), %k[q]\n\t" /* loads the previous commit word's end */
			 "shrq $3, %%rax\n\t"
			 "btsq $40, %%rax\n\t"
			 "shlq $20, %[q]\n\t"
			 "addq %c[tally](%[w]), %%rax\n\t"
			 "movq %%rax, %c[tally](%[w])\n\t"
			 "orq %%rax, %[q]\n\t"
			 "movq %c[base](%[w]), %%rax\n\t"
			 "movq %[q], (%%rax)\n\t" /* publishes the record; a release store by TSO */
			 "movq %c[offset](%%rip), %%rax\n\t"
			 "movq %[w], %%fs:(%%rax)" /* idle */
			 : [q] "+r"(q)
			 : [w] "r"(w), [offset] "i"(&waymark_module.writer_offset),
			   [tally] "i"(WAYMARK_OFFSET(tally)), [pos] "i"(WAYMARK_OFFSET(pos)),
			   [base] "i"(WAYMARK_OFFSET(base))
			 : "rax", "cc");
}

/*
 * Calls an entry of the runtime, stepping over the red zone of a leaf function. The first argument
 * and the result are in rax, the others in rdx and rcx, which are saved on the stack; the entry
 * preserves every other register.
 */
#define WAYMARK_CALL_BEGIN_ WAYMARK_UNWIND_ENDS_(16) "leaq -128(%%rsp), %%rsp\n\t"
#define WAYMARK_CALL_SAVE_ "pushq %%rdx\n\tpushq %%rcx\n\t"
#define WAYMARK_CALL_ENTRY_ "callq *%c[entry](%%rip)\n\t"
#define WAYMARK_CALL_RESTORE_ "popq %%rcx\n\tpopq %%rdx\n\t"
#define WAYMARK_CALL_END_ "leaq 128(%%rsp), %%rsp\n\t" WAYMARK_UNWIND_GOES_ON_
#define WAYMARK_CALL1(ret, member, a) \
	__asm__ volatile(WAYMARK_CALL_BEGIN_ WAYMARK_CALL_ENTRY_ WAYMARK_CALL_END_ \
			 : "=a"(ret) \
			 : [entry] "i"(&waymark_module.member), "0"(a) \
			 : "cc")
/* For an entry that reads the program's memory at b. */
#define WAYMARK_CALL_READS_(ret, member, a, b, c, if_null) \
	__asm__ volatile(WAYMARK_CALL_BEGIN_ WAYMARK_CALL_SAVE_ \
			 "pushq %[third]\n\t" \
			 "movq %[second], %%rdx\n\t" if_null "popq %%rcx\n\t" \
			 WAYMARK_CALL_ENTRY_ WAYMARK_CALL_RESTORE_ WAYMARK_CALL_END_ \
			 : "=a"(ret) \
			 : [entry] "i"(&waymark_module.member), "0"(a), [second] "r"(b), \
			   [third] "re"((uint64_t)(c)), "m"(WAYMARK_BYTES(b)) \
			 : "cc")
#define WAYMARK_CALL_READS(ret, member, a, b, c) WAYMARK_CALL_READS_(ret, member, a, b, c, "")
/*
 * Like WAYMARK_CALL_READS_() for a string; NULL means `text`. The asm makes the choice, so that the
 * compiler cannot make it before the site.
 */
#define WAYMARK_CALL_STRING(ret, member, a, b, c, text) \
	WAYMARK_CALL_READS_(ret, member, a, b, c, \
			    ".pushsection .rodata.str1.1,\"aMS\",@progbits,1\n" \
			    "1:\t.asciz \"" text "\"\n" \
			    ".popsection\n\t" \
			    "leaq 1b(%%rip), %%rcx\n\t" \
			    "testq %%rdx, %%rdx\n\t" \
			    "cmovzq %%rcx, %%rdx\n\t")
/*
 * For an entry that WAYMARK_CALL_SYMBOLS() also calls and that needs the same stack pointer in both
 * cases.
 */
#define WAYMARK_CALL_ALIKE(ret, member, a) \
	__asm__ volatile(WAYMARK_CALL_BEGIN_ WAYMARK_CALL_SAVE_ \
			 WAYMARK_CALL_ENTRY_ WAYMARK_CALL_RESTORE_ WAYMARK_CALL_END_ \
			 : "=a"(ret) \
			 : [entry] "i"(&waymark_module.member), "0"(a) \
			 : "cc")
/* For an entry whose arguments b and c are addresses that the linker knows. */
#if defined(__clang__) && !defined(__OPTIMIZE__) && !defined(__cplusplus)
#define WAYMARK_CALL_SYMBOLS(ret, member, a, b, c) /* in this case parameters are not constants */ \
	__asm__ volatile(WAYMARK_CALL_BEGIN_ WAYMARK_CALL_SAVE_ \
			 WAYMARK_CALL_ENTRY_ WAYMARK_CALL_RESTORE_ WAYMARK_CALL_END_ \
			 : "=a"(ret) \
			 : [entry] "i"(&waymark_module.member), "0"(a), "d"(b), "c"(c) \
			 : "cc")
#define WAYMARK_CALL_SYMBOL(ret, member, a, b) WAYMARK_CALL_SYMBOLS(ret, member, a, b, 0)
#else
#define WAYMARK_CALL_SYMBOLS(ret, member, a, b, c) \
	__asm__ volatile(WAYMARK_CALL_BEGIN_ WAYMARK_CALL_SAVE_ \
			 "leaq %c[symbol_b](%%rip), %%rdx\n\t" \
			 "leaq %c[symbol_c](%%rip), %%rcx\n\t" \
			 WAYMARK_CALL_ENTRY_ WAYMARK_CALL_RESTORE_ WAYMARK_CALL_END_ \
			 : "=a"(ret) \
			 : [entry] "i"(&waymark_module.member), "0"(a), [symbol_b] "i"(b), \
			   [symbol_c] "i"(c) \
			 : "cc")
#define WAYMARK_CALL_SYMBOL(ret, member, a, b) /* no third argument, for speed: a filter drops most
					        * of these events */ \
	__asm__ volatile(WAYMARK_CALL_BEGIN_ "pushq %%rdx\n\t" \
			 "leaq %c[symbol](%%rip), %%rdx\n\t" \
			 WAYMARK_CALL_ENTRY_ "popq %%rdx\n\t" WAYMARK_CALL_END_ \
			 : "=a"(ret) \
			 : [entry] "i"(&waymark_module.member), "0"(a), [symbol] "i"(b) \
			 : "cc")
#endif

#elif defined(__aarch64__)

#define WAYMARK_SITE_INSN "771:\tnop\n"
#define WAYMARK_SYMBOL "S"
#define WAYMARK_OPERAND(n) "%" #n

#define WAYMARK_LOAD(ret, p, member) \
	__asm__ volatile("ldr %0, [%1, %2]" : "=r"(ret) : "r"(p), "i"(WAYMARK_OFFSET(member)))
#define WAYMARK_LOAD_STATIC(ret, lvalue) \
	__asm__ volatile("ldr %0, %1" : "=r"(ret) : "m"(lvalue))
#define WAYMARK_LOAD_BITS(ret, lvalue) \
	__asm__ volatile("ldr %w0, %1" : "=r"(ret) : "m"(WAYMARK_HIGH_HALF(lvalue)))

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
			 "mov x17, sp\n\t"
			 "str x17, [%0, %3]\n\t"
			 "ldr x17, [%0, %2]\n\t"
			 "add x17, %0, x17\n\t"
			 "str x17, [x16]"
			 : "=&r"(w)
			 : "m"(waymark_module.writer_offset), "i"(WAYMARK_OFFSET(step)),
			   "i"(WAYMARK_OFFSET(sp))
			 : "x16", "x17");
	return w;
}

WAYMARK_INLINE void waymark_idle(struct waymark_writer *w)
{
	__asm__ volatile("mrs x16, tpidr_el0\n\t"
			 "ldr x17, %0\n\t"
			 "str %1, [x16, x17]"
			 :
			 : "m"(waymark_module.writer_offset), "r"(w)
			 : "x16", "x17");
}

#define WAYMARK_STORE_(w, member, value) \
	__asm__ volatile("str %0, [%1, %2]" : : "r"(value), "r"(w), "i"(WAYMARK_OFFSET(member)))
WAYMARK_INLINE void waymark_stamp(struct waymark_writer *w, unsigned char *start, uint64_t word)
{
	uint64_t last;
	__asm__ volatile("mrs %0, cntvct_el0\n\tlsl %0, %0, 16" : "=r"(last));
	WAYMARK_STORE_(w, last, last);
	waymark_put64(start, last | word);
}
WAYMARK_INLINE void waymark_stamp_again(struct waymark_writer *w, unsigned char *start,
					uint64_t word)
{
	uint64_t last;
	WAYMARK_LOAD(last, w, last);
	waymark_put64(start, last | word);
}
/* Opens a record: replaces q, the event's word, with the position. False: it does not fit. */
#define waymark_open_record(q, w, fixed, stamp) \
	__extension__({ \
		unsigned char *start_, *end_; \
		int full_ = 1; \
		WAYMARK_LOAD(start_, w, pos); \
		WAYMARK_LOAD(end_, w, end); \
		if (__builtin_expect((int64_t)(end_ - start_) >= (int64_t)(8 + (fixed)), 1)) { \
			if (stamp) \
				waymark_stamp(w, start_, (uint64_t)(q)); \
			else \
				waymark_stamp_again(w, start_, (uint64_t)(q)); \
			(q) = start_; \
			full_ = 0; \
		} \
		!full_; \
	})

WAYMARK_INLINE void waymark_commit(struct waymark_writer *w, unsigned char *q)
{
	unsigned char *start, *base;
	uint64_t tally, end;
	WAYMARK_LOAD(start, w, pos);
	WAYMARK_LOAD(tally, w, tally);
	WAYMARK_LOAD(base, w, base);
	end = tally & 0xfffff;
	tally += WAYMARK_COMMIT_COUNT_ONE + ((uint64_t)(q - start) >> 3);
	WAYMARK_STORE_(w, pos, q);
	WAYMARK_STORE_(w, tally, tally);
	__asm__ volatile("stlr %0, [%1]" : : "r"(tally | end << 20), "r"(base));
	waymark_idle(w);
}

/*
 * Calls a runtime entry: arguments in x0, x1, x2, result in x0; x16 and x17 are clobbered, the link
 * register is saved here, the others are preserved.
 */
#define WAYMARK_CALL_(ret, entry, a, b, c, ...) \
	do { \
		register uint64_t waymark_x0_ __asm__("x0") = (uint64_t)(uintptr_t)(a); \
		register uint64_t waymark_x1_ __asm__("x1") = (uint64_t)(uintptr_t)(b); \
		register uint64_t waymark_x2_ __asm__("x2") = (uint64_t)(uintptr_t)(c); \
		__asm__ volatile("ldr x16, %3\n\t" \
				 WAYMARK_UNWIND_ENDS_(30) \
				 "stp x29, x30, [sp, #-16]!\n\t" \
				 "blr x16\n\t" \
				 "ldp x29, x30, [sp], #16\n\t" \
				 WAYMARK_UNWIND_GOES_ON_ \
				 : "+r"(waymark_x0_) \
				 : "r"(waymark_x1_), "r"(waymark_x2_), "m"(entry), __VA_ARGS__ \
				 : "x16", "x17", "cc"); \
		(ret) = (__typeof__(ret))waymark_x0_; \
	} while (0)
#define WAYMARK_CALL1(ret, member, a) WAYMARK_CALL_(ret, waymark_module.member, a, 0, 0, "i"(0))
#define WAYMARK_CALL_ALIKE WAYMARK_CALL1
#define WAYMARK_CALL_READS(ret, member, a, b, c) \
	WAYMARK_CALL_(ret, waymark_module.member, a, b, c, "Q"(WAYMARK_BYTES(b)))
/* Like the macro above, for a string variable; NULL is replaced with `text`. */
#define WAYMARK_CALL_STRING(ret, member, a, b, c, text) \
	do { \
		if (!(b)) \
			(b) = (text); \
		WAYMARK_CALL_READS(ret, member, a, b, c); \
	} while (0)
#define WAYMARK_CALL_SYMBOLS(ret, member, a, b, c) \
	WAYMARK_CALL_(ret, waymark_module.member, a, b, c, "i"(0))
#define WAYMARK_CALL_SYMBOL(ret, member, a, b) WAYMARK_CALL_SYMBOLS(ret, member, a, b, b)

#else
#error "waymark: this machine is not supported; build with -DWAYMARK_DISABLE"
#endif

#endif
