/* SPDX-License-Identifier: MIT */
/*
 * print_tree.h - what a print form is compiled to, for the print_*.c files: a
 * list of conversions, each with the text before it and the tree of its
 * argument.
 *
 * A node has a number, or bytes of the record, or makes text, by its kind.
 */
#ifndef WM_KDATA_PRINT_TREE_H
#define WM_KDATA_PRINT_TREE_H

#include "kdata/print.h"

enum wm_knode_kind {
	/* Numbers. */
	WM_KNODE_NUMBER,
	WM_KNODE_FIELD,   /* of a scalar field; of an array: its bytes */
	WM_KNODE_CAST,    /* of `a` to the node's type */
	WM_KNODE_UNARY,   /* op: '-' '~' '!' */
	WM_KNODE_BINARY,  /* op: a character, or enum wm_kop */
	WM_KNODE_CHOICE,  /* a ? b : c; numbers or text */
	WM_KNODE_ELEMENT, /* a[b]: of bytes, `bytes` wide */
	WM_KNODE_LENGTH,  /* of a dynamic array's bytes */

	/* Bytes of the record. */
	WM_KNODE_BYTES, /* all of a field's */
	WM_KNODE_VIEW,  /* of `a`, as elements of the node's type: a cast pointer */

	/* Text. */
	WM_KNODE_TEXT,
	WM_KNODE_SYMBOLIC, /* the pair whose value is that of `a` */
	WM_KNODE_FLAGS,    /* the pairs whose bits are in `a`, with `text` between them */
	WM_KNODE_BITMASK,  /* bytes of `a` in hexadecimal */
	WM_KNODE_CPUS,     /* bytes of `a` as a list of the bits set */
	WM_KNODE_HEX,      /* b bytes of `a`, a space between them (op ' ') or none (op 0) */
	WM_KNODE_ARRAY,    /* b elements of c bytes of `a` */
	WM_KNODE_SOCKADDR, /* bytes of `a` */
	WM_KNODE_SECONDS,  /* nanoseconds `a`: op 's' whole seconds, 'n' the rest (numbers) */
};

#define WM_KPRINT_HEIGHT_MAX 400u

/* Operators of two characters. */
enum wm_kop {
	WM_KOP_SHL = 128,
	WM_KOP_SHR,
	WM_KOP_LE,
	WM_KOP_GE,
	WM_KOP_EQ,
	WM_KOP_NE,
	WM_KOP_AND,
	WM_KOP_OR,
	WM_KOP_ARROW,
};

struct wm_kpair {
	uint64_t value;
	const char *text;
};

struct wm_knode {
	uint8_t kind; /* enum wm_knode_kind */
	uint8_t op;
	uint8_t bytes;   /* of the C type of its number: 1, 2, 4, 8 */
	bool is_signed;  /* that type is */
	uint16_t height; /* of the tree below: what a walk of it takes of the stack */
	uint32_t nr_pairs;
	const struct wm_kfield *field;
	uint64_t number;
	const char *text;
	const struct wm_knode *a, *b, *c;
	const struct wm_kpair *pairs;
};

#define WM_KPRINT_WIDTH_MAX 4096 /* of a conversion, whatever form or record say */

#define WM_KCONV_STAR (-2) /* of a width or precision: an argument says it */

/* One conversion of the format and the text before it. */
struct wm_kconv {
	const char *before;
	uint32_t before_bytes;
	char kind;       /* d u x X o c s p; 0: only text, the last one */
	char quick;      /* kind, of a number without width (but zeroes before hex); else 0 */
	char pointer[5]; /* of p: what follows, "I4", "S", ... */
	uint8_t bytes;   /* of an integer's length modifier */
	bool left, zero, alternate, plus, space;
	int32_t width, precision;                         /* -1: none */
	const struct wm_knode *width_arg, *precision_arg; /* of '*' */
	const struct wm_knode *arg;
};

struct wm_kprint {
	const struct wm_kformat *format;
	struct wm_kmachine machine;
	uint32_t nr_convs;
	const struct wm_kconv *convs; /* NULL: fields are printed */
	uint32_t room;                /* bytes for all texts and quick conversions */
	uint8_t special;              /* enum wm_kspecial */
};

/* Events whose record says more than their print form. */
enum wm_kspecial {
	WM_KSPECIAL_NONE,
	WM_KSPECIAL_BPRINT, /* trace_printk(): a format's address and packed arguments */
	WM_KSPECIAL_STACK,  /* a list of addresses as long as the record */
};

/* What a program runs on. */
struct wm_krun {
	const struct wm_kprint *print;
	const struct wm_kformats *known; /* NULL: nothing */
	const unsigned char *record;
	uint32_t bytes;
	struct wm_text *out;
};

struct wm_kbytes {
	const unsigned char *data; /* NULL: none */
	uint32_t bytes;
};

/* --- compiling ------------------------------------------------------------- */

enum wm_ktoken_kind {
	WM_KTOKEN_END,
	WM_KTOKEN_NAME,
	WM_KTOKEN_NUMBER,
	WM_KTOKEN_TEXT, /* a quoted string */
	WM_KTOKEN_OP,
	WM_KTOKEN_BAD,
};

struct wm_ktoken {
	uint8_t kind;
	uint8_t op;      /* OP: a character or enum wm_kop */
	bool is_signed;  /* NUMBER */
	uint8_t bytes;   /* NUMBER: its C type's width */
	const char *at;  /* where it begins */
	uint32_t length; /* NAME */
	uint64_t number;
	const char *text; /* TEXT: unescaped, of the arena */
};

/* A name bound inside ({ ... }). */
struct wm_kbound {
	const char *name;
	uint32_t length;
	const struct wm_knode *value;
	const struct wm_kbound *next;
};

struct wm_kparser {
	struct wm_arena *arena;
	const struct wm_kmachine *machine;
	const struct wm_kformat *format;
	struct wm_diag *diag;
	const char *begin, *at, *end;
	struct wm_ktoken token; /* the one we stand on */
	const struct wm_kbound *bound;
	uint32_t nr_nodes, depth;
	uint32_t nr_unknown;     /* values met so far that only the kernel knows; they count as 0 */
	const char *why, *where; /* why and where it cannot be compiled; NULL: it can so far */
	bool no_memory;
};

/* print_lex.c: moves to the next token. */
void wm_kparser_next(struct wm_kparser *p);
bool wm_kparser_is(const struct wm_kparser *p, uint8_t op);
bool wm_kparser_is_name(const struct wm_kparser *p, const char *name);
/* Steps over an operator; false, and the parser has failed, when it is not there. */
bool wm_kparser_skip(struct wm_kparser *p, uint8_t op);
/* Remembers the first reason. Returns NULL. */
struct wm_knode *wm_kparser_fail(struct wm_kparser *p, const char *why);

/* print_parse.c: expressions. NULL: failed. */
struct wm_knode *wm_kparser_expression(struct wm_kparser *p); /* without a comma */
struct wm_knode *wm_kparser_node(struct wm_kparser *p, enum wm_knode_kind kind);
/* To be called once the node has its parts: measures its height. Returns it, or NULL. */
struct wm_knode *wm_kparser_whole(struct wm_kparser *p, struct wm_knode *n);
struct wm_knode *wm_kparser_number(struct wm_kparser *p, uint64_t value, uint8_t bytes,
				   bool is_signed);
struct wm_knode *wm_kparser_unknown(struct wm_kparser *p);

/* print_type.c: types by name. */
struct wm_ktype {
	uint8_t bytes; /* 0: unknown */
	bool is_signed, is_pointer;
};
/* Does a type stand behind the '(' we stand on, with a ')' behind it? Moves behind both if so. */
bool wm_kparser_cast(struct wm_kparser *p, struct wm_ktype *ret);
/* Reads names and stars; false when there are none. The last name is left when `declares`. */
bool wm_kparser_type(struct wm_kparser *p, bool declares, struct wm_ktype *ret);

/* print_call.c: `name` and the '(' behind it are read. */
struct wm_knode *wm_kparser_call(struct wm_kparser *p, const struct wm_ktoken *name);

/*
 * print_format.c: reads one conversion behind its '%' (but for `before` and
 * the arguments). What is behind it, or NULL when we do not know it.
 */
const char *wm_kconv_read(const char *at, uint8_t long_bytes, struct wm_kconv *k);

/* print_format.c: the format string and its arguments. 0, -ENOMEM, or -EBADMSG: failed. */
int wm_kparser_format(struct wm_kparser *p, struct wm_kprint *ret);

/* --- running --------------------------------------------------------------- */

/* print_run.c */
uint64_t wm_krun_number(const struct wm_krun *r, const struct wm_knode *n);
struct wm_kbytes wm_krun_bytes(const struct wm_krun *r, const struct wm_knode *n);

/* print_text.c: what %s makes of a node; a number is an address of a text. */
void wm_krun_text(const struct wm_krun *r, const struct wm_knode *n);
void wm_krun_hex(struct wm_text *out, uint64_t v);  /* 0x... */
void wm_krun_char(const struct wm_krun *r, char c); /* no NUL gets into a line */
/* What was added since `start` gets its width and precision. */
void wm_krun_pad(const struct wm_krun *r, const struct wm_kconv *c, size_t start, int32_t width,
		 int32_t precision);
void wm_krun_integer(struct wm_text *out, const struct wm_kconv *c, uint64_t value, int32_t width,
		     int32_t precision);

/* print_pointer.c: what %p and the letters behind it make of a node. */
void wm_krun_pointer(const struct wm_krun *r, const struct wm_kconv *c, int32_t width);
void wm_krun_symbol(const struct wm_krun *r, uint64_t addr, bool offset);
void wm_krun_bits(const struct wm_krun *r, struct wm_kbytes b, bool list);
void wm_krun_sockaddr(const struct wm_krun *r, struct wm_kbytes b, bool port);

/* print_special.c */
void wm_krun_fields(const struct wm_krun *r);
bool wm_krun_special(const struct wm_krun *r);

#endif
