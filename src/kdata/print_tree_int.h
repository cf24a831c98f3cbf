/* SPDX-License-Identifier: MIT */
/*
 * print_tree_int.h - a compiled print form, for the print_*.c files: a list of conversions, each
 * with the text that precedes it and the tree of its argument.
 *
 * Depending on its kind, a node yields a number, bytes of the record, or text.
 */
#ifndef WM_KDATA_PRINT_TREE_INT_H
#define WM_KDATA_PRINT_TREE_INT_H

#include "kdata/print.h"

enum wm_knode_kind {
	/* Numbers. */
	WM_KNODE_NUMBER,
	WM_KNODE_FIELD,   /* the value of a scalar field, or the bytes of an array */
	WM_KNODE_CAST,    /* `a`, converted to the type of the node */
	WM_KNODE_UNARY,   /* op: '-' '~' '!' */
	WM_KNODE_BINARY,  /* op: a character, or enum wm_kop */
	WM_KNODE_CHOICE,  /* a ? b : c; numbers or text */
	WM_KNODE_ELEMENT, /* a[b]: an element of `a`, `bytes` wide */
	WM_KNODE_LENGTH,  /* the length of a dynamic array in bytes */

	/* Nodes that yield bytes of the record. */
	WM_KNODE_BYTES, /* all bytes of a field */
	WM_KNODE_VIEW,  /* `a`, viewed as elements of the node's type (a cast pointer) */

	/* Text. */
	WM_KNODE_TEXT,
	WM_KNODE_SYMBOLIC, /* the text of the pair whose value equals `a` */
	WM_KNODE_FLAGS,    /* the strings of the pairs whose bits are in `a`, joined with `text` */
	WM_KNODE_BITMASK,  /* bytes of `a` in hexadecimal */
	WM_KNODE_CPUS,     /* bytes of `a` as a list of the bits set */
	WM_KNODE_HEX,      /* b bytes of `a`, separated by a space (op ' ') or not (op 0) */
	WM_KNODE_ARRAY,    /* b elements of `a`, each of c bytes */
	WM_KNODE_SOCKADDR, /* `a` as a socket address */
	/* Nanoseconds `a` as two numbers: op 's' yields whole seconds, 'n' the rest. */
	WM_KNODE_SECONDS,
};

#define WM_KPRINT_HEIGHT_MAX 400u

/* Operators that consist of two characters. */
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
	uint8_t bytes;   /* size of the number's C type: 1, 2, 4 or 8 */
	bool is_signed;  /* signedness of that type */
	uint16_t height; /* height of the subtree, which bounds the stack that a walk needs */
	uint32_t nr_pairs;
	const struct wm_kfield *field;
	uint64_t number;
	const char *text;
	const struct wm_knode *a, *b, *c;
	const struct wm_kpair *pairs;
};

/* Maximum width of a conversion, whatever the form or record contains. */
#define WM_KPRINT_WIDTH_MAX 4096

#define WM_KCONV_CHUNK 16u

#define WM_KCONV_STAR (-2) /* the width or precision is `*`: the next argument */

/* A conversion of the format, and the text that precedes it. */
struct wm_kconv {
	const char *before; /* copied in pieces of WM_KCONV_CHUNK: padded */
	uint32_t before_bytes;
	char kind; /* d u x X o c s p; 0: the last one, which has only text */
	/* Equals `kind` for a number without width (zero-padded hex allowed), else 0. */
	char quick;
	char pointer[5]; /* for p: the letters that follow it, such as "I4" or "S" */
	uint8_t bytes;   /* size of an integer, from its length modifier */
	bool left, zero, alternate, plus, space;
	int32_t width, precision;                         /* -1: none */
	const struct wm_knode *width_arg, *precision_arg; /* for '*' */
	const struct wm_knode *arg;
};

struct wm_kprint {
	const struct wm_kformat *format;
	struct wm_kmachine machine;
	uint32_t nr_convs;
	const struct wm_kconv *convs; /* NULL when the fields are printed instead */
	/* Number of bytes needed for all strings and quick conversions. */
	uint32_t room;
	uint8_t special; /* enum wm_kspecial */
};

/* Events whose record contains more than their print form shows. */
enum wm_kspecial {
	WM_KSPECIAL_NONE,
	WM_KSPECIAL_BPRINT, /* trace_printk(): address of a format, and packed arguments */
	WM_KSPECIAL_STACK,  /* addresses up to the end of the record */
};

/* The input and output of a program. */
struct wm_krun {
	const struct wm_kprint *print;
	const struct wm_kformats *known; /* optional: translates addresses to names; may be NULL */
	const unsigned char *record;
	uint32_t bytes;
	struct wm_text *out;
	const struct wm_kernel_names *names; /* optional */
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
	uint8_t bytes;   /* NUMBER: width of its C type */
	const char *at;  /* start of the token */
	uint32_t length; /* NAME */
	uint64_t number;
	const char *text; /* TEXT: the unescaped string, in the arena */
};

/* A name defined inside ({ ... }). */
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
	struct wm_ktoken token; /* the current token */
	const struct wm_kbound *bound;
	uint32_t nr_nodes, depth;
	uint32_t nr_unknown;     /* number of values that only the kernel has; they count as 0 */
	const char *why, *where; /* reason for and place of the first failure; NULL: none yet */
	bool no_memory;
};

/* print_lex.c: moves to the next token. */
void wm_kparser_next(struct wm_kparser *p);
bool wm_kparser_is(const struct wm_kparser *p, uint8_t op);
bool wm_kparser_is_name(const struct wm_kparser *p, const char *name);
/* Skips an operator; if it is not the current token, the parser fails and this returns false. */
bool wm_kparser_skip(struct wm_kparser *p, uint8_t op);
/* Records the reason for the first failure. Returns NULL. */
struct wm_knode *wm_kparser_fail(struct wm_kparser *p, const char *why);

/* print_parse.c: parses an expression. Returns NULL on failure. */
/* A full expression without the comma operator. */
struct wm_knode *wm_kparser_expression(struct wm_kparser *p);
struct wm_knode *wm_kparser_node(struct wm_kparser *p, enum wm_knode_kind kind);
/* Must be called once the node has its parts: computes its height. Returns the node, or NULL. */
struct wm_knode *wm_kparser_whole(struct wm_kparser *p, struct wm_knode *n);
struct wm_knode *wm_kparser_number(struct wm_kparser *p, uint64_t value, uint8_t bytes,
				   bool is_signed);
struct wm_knode *wm_kparser_unknown(struct wm_kparser *p);

/* print_type.c: parses types, which it recognizes by name. */
struct wm_ktype {
	uint8_t bytes; /* 0: unknown */
	bool is_signed, is_pointer;
};
/* If the next tokens are '(', a type and ')', skips them and returns true. */
bool wm_kparser_cast(struct wm_kparser *p, struct wm_ktype *ret);
/*
 * Reads type names and stars; returns false when there are none. With `declares`, the last name is
 * not part of the type.
 */
bool wm_kparser_type(struct wm_kparser *p, bool declares, struct wm_ktype *ret);

/* print_call.c: parses a call after its `name` and '(' have been read. */
struct wm_knode *wm_kparser_call(struct wm_kparser *p, const struct wm_ktoken *name);

/*
 * print_format.c: parses one conversion after its '%' (except `before` and the
 * arguments). Returns the position after it, or NULL when it is unknown.
 */
const char *wm_kconv_read(const char *at, uint8_t long_bytes, struct wm_kconv *k);

/* --- running --------------------------------------------------------------- */

/* print_run.c */
uint64_t wm_krun_number(const struct wm_krun *r, const struct wm_knode *n);
struct wm_kbytes wm_krun_bytes(const struct wm_krun *r, const struct wm_knode *n);

/* print_text.c: writes a node for %s; a number is treated as the address of a string. */
void wm_krun_text(const struct wm_krun *r, const struct wm_knode *n);
void wm_krun_hex(struct wm_text *out, uint64_t v);  /* 0x... */
void wm_krun_char(const struct wm_krun *r, char c); /* adds c, unless it is NUL */
/* Applies width and precision to the text added since `start`. */
void wm_krun_pad(const struct wm_krun *r, const struct wm_kconv *c, size_t start, int32_t width,
		 int32_t precision);
void wm_krun_integer(struct wm_text *out, const struct wm_kconv *c, uint64_t value, int32_t width,
		     int32_t precision);

/* print_pointer.c: writes a node for %p and the letters after it. */
void wm_krun_pointer(const struct wm_krun *r, const struct wm_kconv *c, int32_t width);
void wm_krun_symbol(const struct wm_krun *r, uint64_t addr, bool offset);
void wm_krun_bits(const struct wm_krun *r, struct wm_kbytes b, bool list);
void wm_krun_sockaddr(const struct wm_krun *r, struct wm_kbytes b, bool port);

/* print_special.c */
void wm_krun_fields(const struct wm_krun *r);
bool wm_krun_special(const struct wm_krun *r);

#endif
