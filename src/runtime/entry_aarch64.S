/* SPDX-License-Identifier: MIT */
/*
 * entry_aarch64.S - the entries that inline code calls, by `blr x16`: arguments in x0, x1, x2,
 * result in x0; x16, x17 and the flags are clobbered, the caller has saved x29 and x30 (16 bytes),
 * and every other register is preserved. The C functions called here are compiled to use general
 * registers only.
 */
#if defined(__aarch64__)
	.text

/* Saves the registers that a C function may clobber and calls it. */
	.macro	SAVE_GENERAL
	stp	x29, x30, [sp, #-160]!
	stp	x1, x2, [sp, #16]
	stp	x3, x4, [sp, #32]
	stp	x5, x6, [sp, #48]
	stp	x7, x8, [sp, #64]
	stp	x9, x10, [sp, #80]
	stp	x11, x12, [sp, #96]
	stp	x13, x14, [sp, #112]
	stp	x15, x18, [sp, #128]
	.endm
	.macro	LOAD_GENERAL
	ldp	x1, x2, [sp, #16]
	ldp	x3, x4, [sp, #32]
	ldp	x5, x6, [sp, #48]
	ldp	x7, x8, [sp, #64]
	ldp	x9, x10, [sp, #80]
	ldp	x11, x12, [sp, #96]
	ldp	x13, x14, [sp, #112]
	ldp	x15, x18, [sp, #128]
	ldp	x29, x30, [sp], #160
	.endm

	.macro	ENTRY name, target
	.globl	\name
	.hidden	\name
	.type	\name, %function
\name:
	SAVE_GENERAL
	mov	x3, x29			/* 4th argument: the caller's frame pointer */
	add	x4, sp, #(160 + 16)	/* 5th argument: the caller's stack pointer */
	mov	x5, x30			/* 6th argument: address in the caller */
	mov	x29, sp
	bl	\target
	LOAD_GENERAL
	ret
	.size	\name, . - \name
	.endm

	ENTRY	wm_entry_slow, wm_slow
	ENTRY	wm_entry_enter, wm_enter
	ENTRY	wm_entry_gate, wm_gate
	ENTRY	wm_entry_leave, wm_leave
	ENTRY	wm_entry_span, wm_span
	ENTRY	wm_entry_put_string, wm_put_string
	ENTRY	wm_entry_put_bytes, wm_put_bytes
	ENTRY	wm_entry_put_chars, wm_put_chars

/*
 * Saves whole vector registers around ordinary functions. A function may clobber the upper parts of
 * all of them; writing the lower part of a register clears the rest, including the bits of SVE
 * beyond 128 (wm_xsave_works is set when the CPU has SVE). The registers are stored below the frame
 * at x29; x9, x10 and x11 are lost.
 */
	.arch_extension sve
	.macro	SAVE_VECTORS
	adrp	x9, wm_xsave_works
	ldrb	w9, [x9, #:lo12:wm_xsave_works]
	mrs	x10, fpsr
	mrs	x11, fpcr
	stp	x10, x11, [sp, #-32]!
	str	x9, [sp, #16]
	cbnz	x9, 1f
	sub	sp, sp, #512
	.irp	n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28
	STORE_PAIR \n
	.endr
	stp	q30, q31, [sp, #480]
	b	2f
1:	addvl	sp, sp, #-16
	addvl	sp, sp, #-16
	addvl	sp, sp, #-4		/* 16 predicates and the first-fault register, rounded up */
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	str	z\n, [sp, #(\n + 4), mul vl]
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	str	p\n, [sp, #\n, mul vl]
	.endr
	rdffr	p0.b
	str	p0, [sp, #16, mul vl]
2:
	.endm
	.macro	LOAD_VECTORS		/* restores sp to its value before SAVE_VECTORS */
	sub	x9, x29, #16
	ldr	x9, [x9]
	cbnz	x9, 1f
	.irp	n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28
	LOAD_PAIR \n
	.endr
	ldp	q30, q31, [sp, #480]
	add	sp, sp, #512
	b	2f
1:	ldr	p0, [sp, #16, mul vl]
	wrffr	p0.b
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldr	p\n, [sp, #\n, mul vl]
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ldr	z\n, [sp, #(\n + 4), mul vl]
	.endr
	addvl	sp, sp, #16
	addvl	sp, sp, #16
	addvl	sp, sp, #4
2:	ldp	x10, x11, [sp], #32
	msr	fpsr, x10
	msr	fpcr, x11
	.endm
	.altmacro
	.macro	STORE_PAIR n
	STORE_PAIR_ \n, %(\n + 1)
	.endm
	.macro	STORE_PAIR_ n, m
	stp	q\n, q\m, [sp, #(16 * \n)]
	.endm
	.macro	LOAD_PAIR n
	LOAD_PAIR_ \n, %(\n + 1)
	.endm
	.macro	LOAD_PAIR_ n, m
	ldp	q\n, q\m, [sp, #(16 * \n)]
	.endm

/* Calls callbacks, which are ordinary functions with arguments (slots, event, dispatcher). */
	.globl	wm_entry_probe
	.hidden	wm_entry_probe
	.type	wm_entry_probe, %function
wm_entry_probe:
	SAVE_GENERAL
	mov	x29, sp
	SAVE_VECTORS
	bl	wm_guest_probe_run
	LOAD_VECTORS
	LOAD_GENERAL
	ret
	.size	wm_entry_probe, . - wm_entry_probe

/* bool wm_guest_filter_run_float(filter, payload, bytes, contexts), called from C. */
	.globl	wm_guest_filter_run_float
	.hidden	wm_guest_filter_run_float
	.type	wm_guest_filter_run_float, %function
wm_guest_filter_run_float:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	SAVE_VECTORS
	bl	wm_filter_run_float
	LOAD_VECTORS
	ldp	x29, x30, [sp], #16
	ret
	.size	wm_guest_filter_run_float, . - wm_guest_filter_run_float

/* long wm_clone(flags, stack_top, fn, tls, tid): fn runs in the new thread and does not return. */
	.globl	wm_clone
	.hidden	wm_clone
	.type	wm_clone, %function
wm_clone:
	/*
	 * Saves fn; tls and the tid's address are already in the registers that the kernel expects.
	 */
	mov	x9, x2
	mov	x2, xzr
	mov	x8, #220
	svc	#0
	cbnz	x0, 1f
	mov	x29, xzr
	mov	x30, xzr
	blr	x9
	brk	#1
1:	ret
	.size	wm_clone, . - wm_clone

	.section .note.GNU-stack, "", %progbits
#endif
