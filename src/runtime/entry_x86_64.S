/* SPDX-License-Identifier: MIT */
/*
 * entry_x86_64.S - the entries that inline code calls: arguments in rax, rdx, rcx, result in rax,
 * all other registers preserved, no assumption about stack alignment (the C functions called here
 * are compiled to use general registers only).
 */
#if defined(__x86_64__)
	.text

/* Saves the registers that a C function may clobber, moves the arguments, and calls it. */
	.macro	ENTRY name, target
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	movq	%rcx, %r8
	movq	%rax, %rdi
	movq	%rdx, %rsi
	movq	%r8, %rdx
	movq	%rbp, %rcx		/* 4th argument: the caller's frame pointer */
	leaq	(8 * 9 + 128)(%rsp), %r8	/* 5th argument: the caller's stack pointer */
	movq	(8 * 8)(%rsp), %r9	/* 6th argument: address in the caller */
	cld
	callq	\target
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	retq
	.size	\name, . - \name
	.endm

	ENTRY	wm_entry_slow, wm_slow
	ENTRY	wm_enter_full, wm_enter
	ENTRY	wm_gate_full, wm_gate
	ENTRY	wm_entry_leave, wm_leave
	ENTRY	wm_entry_span, wm_span

/*
 * The start of a complex event, and the end of one that the first comparison of the filter rejects
 * or that is only counted. Saves only the registers that it uses. The offsets are those of struct
 * wm_thread, wm_level and wm_plan (checked in thread.c).
 */
#define LEVELS	 576	/* in struct wm_thread; a level is 16 bytes, a writer 64 */
#define PASSES	 8
#define COMPLEX	 12
#define QUICK_COUNT 4			/* WM_QUICK_COUNT */

	.globl	wm_entry_enter
	.hidden	wm_entry_enter
	.type	wm_entry_enter, @function
wm_entry_enter:				/* In: rax writer. Out: rax scratch buffer. */
	cmpq	$0, 24(%rax)		/* step */
	je	wm_enter_full
	pushq	%r8
	movq	48(%rax), %r8		/* scratch */
	testq	%r8, %r8
	je	1f
	pushq	%r9
	movl	%eax, %r9d
	andl	$1023, %r9d
	shrl	$2, %r9d		/* offset of the level: 16 * level */
	andq	$-1024, %rax
	movl	$1, LEVELS + COMPLEX(%rax, %r9)
	movq	%r8, %rax
	popq	%r9
	popq	%r8
	retq
1:	popq	%r8
	jmp	wm_enter_full
	.size	wm_entry_enter, . - wm_entry_enter

	.globl	wm_entry_gate
	.hidden	wm_entry_gate
	.type	wm_entry_gate, @function
wm_entry_gate:				/* in rax: end of the fields; rdx: event */
	testq	%rax, %rax
	je	wm_gate_full
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	/* The word has COMPLEX and RECORD but not PROBES; it is loaded before the plan. */
	movq	(%rdx), %r9
	movq	8(%rdx), %r8		/* plan */
	shrq	$60, %r9
	cmpl	$10, %r9d
	jne	9f
	testq	%r8, %r8
	je	9f
	movq	wm_current@gottpoff(%rip), %r10
	movq	%fs:(%r10), %r10	/* address of this thread's writer + 64 */
	movq	48 - 64(%r10), %r11	/* scratch */
	testq	%r11, %r11
	je	9f
	movl	4(%r8), %r9d		/* quick.offset */
	addq	%r9, %r11
	movl	(%r8), %r9d		/* quick.kind */
	cmpl	$2, %r9d
	je	2f
	ja	3f
	testl	%r9d, %r9d
	je	9f
	movslq	(%r11), %r11
	jmp	4f
2:	movl	(%r11), %r11d
	jmp	4f
3:	cmpl	$QUICK_COUNT, %r9d
	je	5f
	movq	(%r11), %r11
4:	subq	8(%r8), %r11		/* quick.first */
	cmpq	16(%r8), %r11		/* quick.span */
	jbe	9f
	jmp	6f
5:	movl	4(%r8), %r9d
	addq	16 - 64(%r10), %r9	/* base */
	cmpq	8 - 64(%r10), %r9	/* `end`; 0: no chunk, or wm_thread_kick() cleared it */
	jae	9f
	incq	(%r9)
6:	leaq	-64(%r10), %r10		/* rejected or counted: the level is no longer busy */
	movl	%r10d, %r11d
	andl	$1023, %r11d
	shrl	$2, %r11d
	movq	%r10, %r8
	andq	$-1024, %r8
	movl	$0, LEVELS + COMPLEX(%r8, %r11)
	incl	LEVELS + PASSES(%r8, %r11)
	movq	wm_current@gottpoff(%rip), %r11
	movq	%r10, %fs:(%r11)
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	retq
9:	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	jmp	wm_gate_full
	.size	wm_entry_gate, . - wm_entry_gate

/*
 * Callbacks are ordinary functions, so the whole vector state is saved and the stack is aligned.
 * The size of the state is computed once (wm_xsave_bytes).
 */
	.globl	wm_entry_probe
	.hidden	wm_entry_probe
	.type	wm_entry_probe, @function
wm_entry_probe:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
	movq	%rax, %rdi		/* slots */
	movq	%rdx, %rsi		/* event */
	movq	%rcx, %rbx		/* dispatcher */
	movl	wm_xsave_bytes(%rip), %r8d
	subq	%r8, %rsp
	andq	$-64, %rsp
	xorl	%eax, %eax		/* the header of the area must be zero */
	movq	%rax, 512(%rsp)
	movq	%rax, 520(%rsp)
	movq	%rax, 528(%rsp)
	movq	%rax, 536(%rsp)
	movq	%rax, 544(%rsp)
	movq	%rax, 552(%rsp)
	movq	%rax, 560(%rsp)
	movq	%rax, 568(%rsp)
	movl	$0xe7, %eax		/* saves x87, SSE, AVX and AVX-512, but not AMX */
	xorl	%edx, %edx
	cmpb	$0, wm_xsave_works(%rip)
	je	1f
	xsave64	(%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
2:	movq	%rbx, %rdx
	cld
	callq	wm_guest_probe_run
	movl	$0xe7, %eax
	xorl	%edx, %edx
	cmpb	$0, wm_xsave_works(%rip)
	je	3f
	xrstor64 (%rsp)
	jmp	4f
3:	fxrstor64 (%rsp)
4:	leaq	-72(%rbp), %rsp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	popq	%rbp
	retq
	.size	wm_entry_probe, . - wm_entry_probe

/*
 * bool wm_guest_filter_run_float(filter, payload, bytes, contexts), called from C. Filters with
 * floats use scalar SSE2 code, which does not change the upper halves of wider registers, so it is
 * enough to save the low 128 bits of the sixteen registers.
 */
	.globl	wm_guest_filter_run_float
	.hidden	wm_guest_filter_run_float
	.type	wm_guest_filter_run_float, @function
wm_guest_filter_run_float:
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$272, %rsp
	andq	$-16, %rsp
	stmxcsr	256(%rsp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	%xmm\n, (16 * \n)(%rsp)
	.endr
	callq	wm_filter_run_float
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	(16 * \n)(%rsp), %xmm\n
	.endr
	ldmxcsr	256(%rsp)
	leave
	retq
	.size	wm_guest_filter_run_float, . - wm_guest_filter_run_float

/*
 * Computes the end of the memory that the record in progress may use, for put_string and put_bytes:
 * the end of the scratch buffer if the position is in it, otherwise the end of the chunk. In: rax
 * position. Out: r8. Clobbers r9.
 */
	.macro	LIMIT
	movq	wm_current@gottpoff(%rip), %r9
	movq	%fs:(%r9), %r9		/* address of this thread's writer + 64 */
	movq	-64 + 48(%r9), %r8	/* scratch */
	testq	%r8, %r8
	je	7f
	subq	%rax, %r8
	negq	%r8			/* offset of the position in the scratch buffer */
	cmpq	$65536, %r8
	jae	7f
	movq	-64 + 48(%r9), %r8
	leaq	(65536 - 16)(%r8), %r8
	jmp	8f
7:	movq	-64 + 8(%r9), %r8	/* end */
8:
	.endm

/*
 * In: rax destination, rdx string, rcx bytes needed after it. Out: rax end, or 0. May write up to 7
 * bytes more.
 */
	.globl	wm_entry_put_string
	.hidden	wm_entry_put_string
	.type	wm_entry_put_string, @function
wm_entry_put_string:
	pushq	%r8
	pushq	%r9
	pushq	%rsi
	pushq	%rdi
	pushq	%rdx
	LIMIT
	testq	%r8, %r8		/* wm_thread_kick() cleared `end` */
	je	.Lstring_full
	subq	%rcx, %r8		/* 1 + the last position where the NUL may be written */
	movabsq	$0x0101010101010101, %rsi
.Lstring_words:
	movl	%edx, %edi
	andl	$4095, %edi
	cmpl	$4088, %edi
	ja	.Lstring_byte		/* reading eight bytes might touch an unmapped page */
	cmpq	%r8, %rax
	ja	.Lstring_full
	movq	(%rdx), %rdi
	movq	%rdi, (%rax)
	movq	%rdi, %r9
	subq	%rsi, %r9
	notq	%rdi
	andq	%rdi, %r9
	movabsq	$0x8080808080808080, %rdi
	andq	%rdi, %r9
	jne	.Lstring_end
	addq	$8, %rdx
	addq	$8, %rax
	jmp	.Lstring_words
.Lstring_byte:
	cmpq	%r8, %rax
	ja	.Lstring_full
	movzbl	(%rdx), %edi
	movb	%dil, (%rax)
	incq	%rdx
	incq	%rax
	testl	%edi, %edi
	jne	.Lstring_words
	decq	%rax
	xorl	%r9d, %r9d
	jmp	.Lstring_check
.Lstring_end:
	bsfq	%r9, %r9
	shrq	$3, %r9
.Lstring_check:
	addq	%r9, %rax		/* the NUL */
	cmpq	%r8, %rax
	ja	.Lstring_full
	incq	%rax
	jmp	.Lstring_out
.Lstring_full:
	xorl	%eax, %eax
.Lstring_out:
	popq	%rdx
	popq	%rdi
	popq	%rsi
	popq	%r9
	popq	%r8
	retq
	.size	wm_entry_put_string, . - wm_entry_put_string

/* In: rax destination, rdx source, rcx bytes | needed after << 48. Out: rax end, or 0. */
	.globl	wm_entry_put_bytes
	.hidden	wm_entry_put_bytes
	.type	wm_entry_put_bytes, @function
wm_entry_put_bytes:
	pushq	%r8
	pushq	%r9
	pushq	%rsi
	pushq	%rdi
	pushq	%rcx
	movq	%rcx, %rsi
	shlq	$16, %rcx
	shrq	$16, %rcx
	shrq	$48, %rsi		/* 0: a fixed array, for which room is reserved */
	je	.Lbytes_fits
	LIMIT
	testq	%r8, %r8		/* wm_thread_kick() cleared `end` */
	je	.Lbytes_full
	subq	%rsi, %r8
	subq	%rax, %r8		/* room */
	jb	.Lbytes_full
	cmpq	%r8, %rcx
	ja	.Lbytes_full
.Lbytes_fits:
	cmpq	$256, %rcx
	jae	.Lbytes_many
	movq	%rdx, %rsi
.Lbytes_words:
	subq	$8, %rcx
	jb	.Lbytes_tail
	movq	(%rsi), %rdi
	movq	%rdi, (%rax)
	addq	$8, %rsi
	addq	$8, %rax
	jmp	.Lbytes_words
.Lbytes_tail:
	addq	$8, %rcx
	je	.Lbytes_out
.Lbytes_byte:
	movzbl	(%rsi), %edi
	movb	%dil, (%rax)
	incq	%rsi
	incq	%rax
	decq	%rcx
	jne	.Lbytes_byte
	jmp	.Lbytes_out
.Lbytes_many:
	movq	%rax, %rdi
	movq	%rdx, %rsi
	cld
	rep movsb
	movq	%rdi, %rax
	jmp	.Lbytes_out
.Lbytes_full:
	xorl	%eax, %eax
.Lbytes_out:
	popq	%rcx
	popq	%rdi
	popq	%rsi
	popq	%r9
	popq	%r8
	retq
	.size	wm_entry_put_bytes, . - wm_entry_put_bytes

/* In: rax destination, rdx string, rcx bytes. Out: rax end. Pads with NULs. */
	.globl	wm_entry_put_chars
	.hidden	wm_entry_put_chars
	.type	wm_entry_put_chars, @function
wm_entry_put_chars:
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	movl	$1, %esi
	testq	%rcx, %rcx
	je	3f
1:	testl	%esi, %esi
	je	2f
	movzbl	(%rdx), %esi
	incq	%rdx
2:	movb	%sil, (%rax)
	incq	%rax
	decq	%rcx
	jne	1b
3:	popq	%rcx
	popq	%rdx
	popq	%rsi
	retq
	.size	wm_entry_put_chars, . - wm_entry_put_chars

/* long wm_clone(flags, stack_top, fn, tls, tid): fn runs in the new thread and does not return. */
	.globl	wm_clone
	.hidden	wm_clone
	.type	wm_clone, @function
wm_clone:
	movq	%rdx, %r9		/* fn */
	movq	%r8, %r10		/* child tid */
	movq	%rcx, %r8		/* tls */
	xorl	%edx, %edx
	movl	$56, %eax
	syscall
	testq	%rax, %rax
	jne	1f
	xorl	%ebp, %ebp
	callq	*%r9
	hlt
1:	retq
	.size	wm_clone, . - wm_clone

	.section .note.GNU-stack, "", @progbits
#endif
