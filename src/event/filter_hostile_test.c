/* SPDX-License-Identifier: MIT */
/*
 * filter_hostile_test.c - runs filters over truncated and mutated payloads, and feeds mutated and
 * hand-written code and damaged descriptions to the verifier. ASan and UBSan builds detect invalid
 * accesses; other builds detect crashes and wrong results.
 */
#include "base/suite_test_kit.h"
#include "event/filter_test_kit.h"

/* A payload truncated at any byte never passes a filter that the whole payload does not pass. */
static void test_cut_payloads(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(cases); i += 3) {
		const struct record *r = &records[cases[i].record];
		size_t desc_bytes;
		unsigned char *desc = describe(r, &desc_bytes);
		struct wm_filter *f = link_text(cases[i].expression, desc, desc_bytes);

		for (size_t n = 0; n < r->bytes; n += n < 200 ? 1 : 7) {
			unsigned char *cut = exact_copy(r->payload, n);
			bool passes = run(f, r, cut, n);

			assert_true(!passes || cases[i].passes);
			free(cut);
		}
		free(f);
		free(desc);
	}
}

/* A filter that reads the last field is false unless every byte before it is present. */
static void test_cut_before_field(void **state)
{
	static const char *const texts[] = {
	    "wide < 0",       "wide >= 0",          "!(wide == 5)",   "note == \"*\"",
	    "note != \"*\"",  "!(note == \"zzz\")", "wide * 0 == 0",  "wide | 1",
	    "(wide < 0) < 2", "note == note",       "wide * 0.0 < 1", "blob[0] < 256 || 1",
	};
	const struct record *r = &records[0];
	size_t desc_bytes;
	unsigned char *desc = describe(r, &desc_bytes);

	(void)state;
	for (size_t i = 0; i < NR(texts); i++) {
		struct wm_filter *f = link_text(texts[i], desc, desc_bytes);
		bool of_note = texts[i][0] == 'n' || texts[i][2] == 'n',
		     of_blob = texts[i][0] == 'b';
		/* Without the last two fields, `level` and `wide`. */
		size_t needed = r->bytes - 4 - (of_note ? 8 : 0);

		if (of_blob)
			needed = 100;
		assert_int_equal(wm_filter_needs(f), 0);
		for (size_t n = 0; n < needed; n++) {
			unsigned char *cut = exact_copy(r->payload, n);

			assert_false(run(f, r, cut, n));
			free(cut);
		}
		free(f);
	}
	free(desc);
}

static void test_mutated_payloads(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	unsigned passed = 0;

	(void)state;
	for (size_t i = 0; i < NR(cases); i += 2) {
		const struct record *r = &records[cases[i].record];
		size_t desc_bytes;
		unsigned char *desc = describe(r, &desc_bytes);
		struct wm_filter *f = link_text(cases[i].expression, desc, desc_bytes);

		for (int round = 0; round < 20; round++) {
			size_t n = round & 1 ? r->bytes : next_random(&seed) % (r->bytes + 1);
			unsigned char *copy = exact_copy(r->payload, n);

			for (int k = 0; n && k < 3; k++)
				copy[next_random(&seed) % n] = (unsigned char)next_random(&seed);
			passed += run(f, r, copy, n);
			free(copy);
		}
		free(f);
		free(desc);
	}
	assert_true(passed > 100);
}

/* --- hostile code ----------------------------------------------------- */

/*
 * Links arbitrary code and runs it if it links. No access may be out of bounds, not even within the
 * filter's stack (ASan and UBSan check). Returns whether the code linked.
 */
static bool try_code(const unsigned char *code, size_t bytes, const struct record *r,
		     const unsigned char *desc, size_t desc_bytes, void *storage)
{
	unsigned char *copy = exact_copy(code, bytes);
	int64_t used = wm_filter_link(copy, bytes, desc, desc_bytes, storage, 8192);
	unsigned char *payload = exact_copy(r->payload, r->bytes);

	(void)wm_filter_check(copy, bytes, desc, desc_bytes, NULL);
	free(copy);
	assert_true(used > 0 || used == -ENOENT || used == -EINVAL || used == -EBADMSG ||
		    used == -ENOSPC);
	if (used > 0) {
		struct wm_filter *f = exact_copy(storage, (size_t)used);

		(void)run(f, r, payload, r->bytes);
		free(f);
	}
	free(payload);
	return used > 0;
}

static void test_mutated_code(void **state)
{
	uint64_t seed = 77;
	unsigned linked = 0, refused = 0, rounds = kit_rounds(10, 60);
	void *storage = malloc(8192);

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		const struct record *r = &records[cases[i].record];
		unsigned char *code;
		size_t bytes, desc_bytes;
		unsigned char *desc = describe(r, &desc_bytes);

		assert_int_equal(wm_filter_parse(cases[i].expression, &code, &bytes, NULL), 0);
		for (unsigned round = 0; round < rounds; round++) {
			unsigned char *copy = exact_copy(code, bytes);

			for (uint64_t k = 1 + next_random(&seed) % 3; k; k--) {
				uint64_t x = next_random(&seed);
				size_t at = round % 3 ? 12 + x % (bytes - 12) : x % bytes;

				/*
				 * Mutates the code: a random byte, a likely op, a small change, or
				 * a byte copied from elsewhere.
				 */
				if (x >> 62 == 0)
					copy[at] = (unsigned char)(x >> 40);
				else if (x >> 62 == 1)
					copy[at] = (unsigned char)(x >> 40) % 66;
				else if (x >> 62 == 2)
					copy[at] += (x >> 40) % 2 ? 1 : 255;
				else
					copy[at] = copy[(x >> 32) % bytes];
			}
			if (try_code(copy, bytes, r, desc, desc_bytes, storage))
				linked++;
			else
				refused++;
			free(copy);
		}
		free(desc);
		free(code);
	}
	free(storage);
	assert_true(linked > 80 * rounds && refused > 80 * rounds);
}

/* Random ops after a valid head: only the verifier prevents a stack overflow. */
static void test_random_ops(void **state)
{
	static const unsigned char ops[] = {1,  7,  7,  8,  16, 17, 18, 32, 33, 34, 35, 36, 37, 38,
					    39, 40, 41, 42, 43, 44, 45, 46, 47, 64, 65, 64, 65};
	const struct record *r = &records[0];
	uint64_t seed = 31337;
	size_t desc_bytes;
	unsigned char *desc = describe(r, &desc_bytes);
	unsigned linked = 0, rounds = kit_rounds(30000, 200000);
	void *storage = malloc(8192);

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		unsigned char code[256] = {'W', 'M', 'F', '1'};
		uint16_t n = 0, nr = (uint16_t)(1 + next_random(&seed) % 12);

		for (unsigned i = 0; i < nr; i++) {
			/* The first ops push values, so that the operators have operands. */
			uint64_t x = next_random(&seed);
			unsigned char op =
			    i < nr / 2 && x % 4 ? (x & 16 ? 1 : 8) : ops[(x >> 8) % sizeof(ops)];

			code[12 + n++] = op;
			if (op == 1)
				code[12 + n] = (unsigned char)(x >> 32), n += 8;
			else if (op == 8)
				code[12 + n++] = (unsigned char)(x >> 32) % 6;
			else if (op == 7)
				n += 4;
			else if (op >= 64)
				code[12 + n] = (unsigned char)(x >> 32) % 24, n += 2;
		}
		code[4] = (unsigned char)n;
		code[8] = (unsigned char)nr;
		linked += try_code(code, 12u + n + 2u * nr, r, desc, desc_bytes, storage);
	}
	assert_true(linked > rounds / 200);
	free(storage);
	free(desc);
}

static void test_mutated_descriptions(void **state)
{
	uint64_t seed = 99;
	unsigned linked = 0, rounds = kit_rounds(8, 20);
	void *storage = malloc(8192);

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		const struct record *r = &records[cases[i].record];
		unsigned char *code;
		size_t bytes, desc_bytes;
		unsigned char *desc = describe(r, &desc_bytes);

		assert_int_equal(wm_filter_parse(cases[i].expression, &code, &bytes, NULL), 0);
		for (unsigned round = 0; round < rounds; round++) {
			size_t n = round % 4 ? desc_bytes : next_random(&seed) % desc_bytes;
			unsigned char *copy = exact_copy(desc, n);

			for (int k = 0; n && k < 2; k++) {
				uint64_t x = next_random(&seed);

				copy[x % n] =
				    x >> 63 ? (unsigned char)(x >> 40) : copy[(x >> 20) % n];
			}
			linked += try_code(code, bytes, r, copy, n, storage);
			free(copy);
		}
		free(desc);
		free(code);
	}
	free(storage);
	assert_true(linked > 50 * rounds);
}

static void test_code_frames(void **state)
{
	const struct record *r = &records[0];
	size_t desc_bytes, bytes;
	unsigned char *desc = describe(r, &desc_bytes), *code, *copy;
	uint64_t storage[512];

	(void)state;
	assert_int_equal(wm_filter_parse("rows > 1 && sql == \"a\"", &code, &bytes, NULL), 0);
	for (size_t n = 0; n < bytes; n++) {
		copy = exact_copy(code, n);
		assert_int_equal(
		    wm_filter_link(copy, n, desc, desc_bytes, storage, sizeof(storage)), -EBADMSG);
		free(copy);
	}
	copy = calloc(1, bytes + 1);
	memcpy(copy, code, bytes);
	assert_int_equal(
	    wm_filter_link(copy, bytes + 1, desc, desc_bytes, storage, sizeof(storage)), -EBADMSG);
	free(copy);
	free(code);
	free(desc);
}

/* Hand-written code that pushes $pid and is just valid or just invalid. */
static void test_hand_code(void **state)
{
	static const struct {
		unsigned char code[40];
		unsigned bytes, nr_ops;
		bool good;
	} hand[] = {
	    {{8, 0}, 2, 1, true},
	    {{8, 0, 8, 1}, 4, 2, false},          /* two values are left at the end */
	    {{8, 0}, 2, 2, false},                /* fewer ops than the head declares */
	    {{8, 5}, 2, 1, false},                /* the context does not exist */
	    {{17}, 1, 1, false},                  /* the operand of ! is missing */
	    {{8, 0, 35}, 3, 2, false},            /* the second operand of + is missing */
	    {{8, 0, 64, 2, 0, 8, 1}, 7, 3, true}, /* the filter "pid && tid" */
	    {{8, 0, 64, 0, 0}, 5, 2, false},      /* the right operand is missing */
	    /* The right operand is empty, and a value follows. */
	    {{8, 0, 64, 0, 0, 8, 1}, 7, 3, false},
	    {{64, 2, 0, 8, 1}, 5, 2, false},             /* the left operand is missing */
	    {{8, 0, 64, 1, 0, 8, 1}, 7, 3, false},       /* the right operand ends inside an op */
	    {{8, 0, 64, 3, 0, 8, 1}, 7, 3, false},       /* the right operand ends after the code */
	    {{8, 0, 64, 4, 0, 8, 1, 8, 2}, 9, 4, false}, /* the right operand pushes two values */
	    {{8, 0, 64, 7, 0, 8, 1, 65, 2, 0, 8, 2}, 12, 5, true},
	    /* The inner block ends after the outer one. */
	    {{8, 0, 64, 5, 0, 8, 1, 65, 2, 0, 8, 2}, 12, 5, false},
	    /* The right operand uses and replaces a value that was pushed before it. */
	    {{8, 0, 8, 1, 64, 5, 0, 8, 2, 35, 8, 1, 35}, 13, 7, false},
	};
	const struct record *r = &records[0];
	size_t desc_bytes;
	unsigned char *desc = describe(r, &desc_bytes);
	uint64_t storage[512];

	(void)state;
	for (size_t i = 0; i < NR(hand); i++) {
		unsigned char code[128] = {'W', 'M', 'F', '1'};
		int64_t used;

		code[4] = (unsigned char)hand[i].bytes;
		code[8] = (unsigned char)hand[i].nr_ops;
		memcpy(code + 12, hand[i].code, hand[i].bytes);
		used = wm_filter_link(code, 12 + hand[i].bytes + 2 * hand[i].nr_ops, desc,
				      desc_bytes, storage, sizeof(storage));
		if (hand[i].good ? used <= 0 : used != -EBADMSG)
			fail_msg("hand-written code %zu: %lld", i, (long long)used);
	}
	free(desc);
}

/* Code that nests exactly to the limit, and code that nests one level deeper. */
static void test_hand_depth(void **state)
{
	const struct record *r = &records[0];
	size_t desc_bytes;
	unsigned char *desc = describe(r, &desc_bytes);
	uint64_t storage[1024];

	(void)state;
	for (unsigned n = WM_FILTER_STACK_MAX - 1; n <= WM_FILTER_STACK_MAX + 1; n++) {
		unsigned char code[512] = {'W',
					   'M',
					   'F',
					   '1',
					   (unsigned char)(3 * n - 1),
					   0,
					   0,
					   0,
					   (unsigned char)(2 * n - 1)};
		int64_t used;

		for (unsigned i = 0; i < n; i++)
			code[12 + 2 * i] = 8;
		memset(code + 12 + 2 * n, 35, n - 1);
		used = wm_filter_link(code, 12 + 3 * n - 1 + 2 * (2 * n - 1), desc, desc_bytes,
				      storage, sizeof(storage));
		assert_true(n <= WM_FILTER_STACK_MAX ? used > 0 : used == -EBADMSG);
		if (used > 0)
			assert_true(run((struct wm_filter *)storage, r, r->payload, r->bytes));
	}
	for (unsigned n = WM_FILTER_NEST_MAX - 1; n <= WM_FILTER_NEST_MAX + 1; n++) {
		unsigned bytes = 5 * n + 2, nr = 2 * n + 1;
		unsigned char code[512] = {
		    'W', 'M', 'F', '1', (unsigned char)bytes, 0, 0, 0, (unsigned char)nr};
		int64_t used;

		for (unsigned i = 0; i <= n; i++) {
			code[12 + 5 * i] = 8;
			code[14 + 5 * i] = i < n ? 64 + i % 2 : 0;
			code[15 + 5 * i] = (unsigned char)(i < n ? bytes - 5 * (i + 1) : 0);
		}
		used = wm_filter_link(code, 12 + bytes + 2 * nr, desc, desc_bytes, storage,
				      sizeof(storage));
		assert_true(n <= WM_FILTER_NEST_MAX ? used > 0 : used == -EBADMSG);
		if (used > 0)
			assert_true(run((struct wm_filter *)storage, r, r->payload, r->bytes));
	}
	free(desc);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cut_payloads),     cmocka_unit_test(test_cut_before_field),
	    cmocka_unit_test(test_mutated_payloads), cmocka_unit_test(test_mutated_code),
	    cmocka_unit_test(test_random_ops),       cmocka_unit_test(test_mutated_descriptions),
	    cmocka_unit_test(test_code_frames),      cmocka_unit_test(test_hand_code),
	    cmocka_unit_test(test_hand_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
