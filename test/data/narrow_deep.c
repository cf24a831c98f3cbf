/* SPDX-License-Identifier: MIT */
/*
 * narrow_deep.c - a 32-bit program without libraries and frame pointers that makes deep calls of
 * all kinds:
 *
 *   gcc -m32 -O1 -g -nostdlib -static -ffreestanding -fno-pic -no-pie -fomit-frame-pointer \
 *       -fasynchronous-unwind-tables -Wl,--build-id narrow_deep.c
 *
 * main() calls descend(), which calls itself; then realigned(), which realigns its stack; sized(),
 * whose frame has a size known only at run time; and work(), which runs WORK iterations of a loop.
 * This is done ROUNDS times. With -DSIGNALS, work() is called by handler(), a signal
 * handler that interrupts sized().
 */
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef WORK
#define WORK 10
#endif

#define EXIT         1
#define GETPID       20
#define KILL         37
#define RT_SIGACTION 174
#define SIGUSR1      10

volatile unsigned sink;

static int call(int number, int a, int b, int c, int d)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return result;
}

__attribute__((noipa)) void work(void)
{
	for (int i = 0; i < WORK; i++)
		sink = sink * 3 + 1;
}

__attribute__((noipa)) void handler(int number)
{
	work();
	sink += (unsigned)number;
}

__attribute__((noipa)) void sized(unsigned n)
{
	volatile char room[n];

	room[n - 1] = 1;
#ifdef SIGNALS
	call(KILL, call(GETPID, 0, 0, 0, 0), SIGUSR1, 0, 0);
#else
	work();
#endif
	sink += (unsigned)room[n - 1];
}

__attribute__((noipa, force_align_arg_pointer)) void realigned(unsigned n)
{
	volatile int room[8] __attribute__((aligned(64))) = {1};

	sized(n + 8);
	sink += (unsigned)room[0];
}

__attribute__((noipa)) unsigned descend(unsigned depth, unsigned a, unsigned b)
{
	unsigned kept = sink + a;

	if (depth)
		kept += descend(depth - 1, b, kept);
	else
		realigned(40);
	return kept + a + b;
}

__attribute__((noipa)) int main(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags, restorer, mask[2];
	} action = {handler};

	call(RT_SIGACTION, SIGUSR1, (int)&action, 0, 8);
	for (int i = 0; i < ROUNDS; i++)
		sink += descend(20, 1, 2);
	return 0;
}

__attribute__((noipa)) void leave(int status)
{
	call(EXIT, status, 0, 0, 0);
}

/* As in crt1.o, so that unwinding ends here: it has no caller. */
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined eip\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %esp\n"
	"	call main\n"
	"	push %eax\n"
	"	call leave\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");
