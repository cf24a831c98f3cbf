/* SPDX-License-Identifier: MIT */
/*
 * narrow.c - a 32-bit program that needs no library:
 *
 *   gcc -m32 -O1 -g -nostdlib -static -ffreestanding -fno-pic -no-pie -Wl,--build-id narrow.c
 *
 * It calls functions with known arguments and passes USDT probes, ROUNDS times
 * (-DROUNDS=N), with WORK iterations of a loop in each.
 */
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef WORK
#define WORK 10
#endif

struct pair {
	int first, second;
};

volatile unsigned sink;
volatile int counter = 7;
static struct pair pair = {100, -200};

static int call(int number, int argument)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(argument) : "memory");
	return result;
}

/* A probe as sys/sdt.h defines it for 32-bit programs. */
#define PROBE(name, operands, ...)                                                                 \
	__asm__ volatile("990:\tnop\n"                                                             \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
			 ".balign 4\n.4byte 992f-991f,994f-993f,3\n"                               \
			 "991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n"                             \
			 "993:\t.4byte 990b\n.4byte 0\n.4byte 0\n"                                 \
			 ".asciz \"zoo\"\n.asciz \"" name "\"\n.asciz \"" operands "\"\n"          \
			 "994:\t.balign 4\n.popsection\n" ::__VA_ARGS__)

__attribute__((noipa)) int work(int turns, short step, const char *text, struct pair *p,
				long long wide)
{
	for (int i = 0; i < turns; i++)
		sink = sink * 3 + (unsigned)step;
	return turns + step + *text + p->first + (int)wide;
}

__attribute__((noipa)) int feed(int round)
{
	volatile int kept[2] = {round + 1000, -round};

	PROBE("feed", "-4@%0 4@$77 -4@%1 1@%b0 -4@counter", "a"(round), "m"(kept[1]));
	PROBE("none", "");
	return -round - kept[0] + kept[0];
}

void _start(void)
{
	int result = 0;

	for (int i = 1; i <= ROUNDS; i++) {
		result += work(WORK, -2, "hay", &pair, 0x123456789abcll);
		result += feed(i);
	}
	call(1, result == counter);
}
