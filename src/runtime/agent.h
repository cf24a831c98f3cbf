/* SPDX-License-Identifier: MIT */
/*
 * agent.h - the protocol between a traced process and a recorder: the session
 * folder, the socket messages and the control page. The only header of this
 * room that control/ may include. doc/format/control.md describes it.
 *
 * A recorder owns a session folder (0700):
 *
 *   DIR/sock    Unix SOCK_SEQPACKET, listening; the recorder accepts
 *   DIR/rules   what to enable: struct wm_rules_header, then the rules;
 *               replaced whole (rename) when it changes
 *
 * A process finds its recorders in $WAYMARK_SESSION, folders separated by ':'
 * (inherited by fork and exec), or through an attach request (below). It reads
 * `rules` itself, before main, so it waits for no other process; it creates the
 * pool, connects, sends HELLO with the pool's descriptor, MODULE for each
 * module, EVENT for each event it is about to enable, and only then enables it.
 * So every EVENT is in the socket before the first record with its id is in the
 * pool: a reader that snapshots the commit words first and drains the socket
 * second knows every id it meets.
 *
 * A forked child does the same from its first event's slow path, a new image
 * after exec from its constructor. Connections are per process; the recorder
 * takes pid and uid from SO_PEERCRED, never from the message.
 *
 * Words are little-endian, messages are at most WM_MSG_MAX bytes, everything
 * received is untrusted and range-checked.
 */
#ifndef WM_RUNTIME_AGENT_H
#define WM_RUNTIME_AGENT_H

#include <stdint.h>

#include "event/context.h"

#define WM_SESSION_ENV  "WAYMARK_SESSION"
#define WM_AGENT_NAME   "waymark" /* name of the runtime's thread */
#define WM_PROTOCOL     2
#define WM_MSG_MAX      65536u
#define WM_RULES_NR_MAX 1024u /* in DIR/rules */

enum wm_msg_type {
	/* process -> recorder */
	WM_MSG_HELLO = 1,  /* struct wm_msg_hello, carries the pool's fd */
	WM_MSG_EVENT = 2,  /* struct wm_msg_event, then the description's bytes */
	WM_MSG_MODULE = 3, /* struct wm_msg_module, then build-id, then path */
	WM_MSG_SYNCED = 4, /* struct wm_msg_synced: the rules of that generation are in force */
	WM_MSG_BYE = 5,    /* struct wm_msg: no more events from this process */
	WM_MSG_COUNTS = 6, /* struct wm_msg_counts: sent when a count has changed */
	WM_MSG_BATCH = 7,  /* struct wm_msg_batch, carries a memfd full of messages: thousands of
			      EVENTs with few system calls */
	/* recorder -> process */
	WM_MSG_RULES = 32,  /* struct wm_msg: read DIR/rules again */
	WM_MSG_DETACH = 33, /* struct wm_msg: disable all events of this session, send BYE */
};

struct wm_msg {
	uint32_t type;
	uint32_t bytes; /* of the whole message */
};

struct wm_msg_hello {
	struct wm_msg h;
	uint32_t protocol;
	uint32_t abi;
	uint32_t pid;  /* as the process sees itself */
	uint32_t ppid; /* likewise */
	uint64_t pool_bytes;
	uint64_t start_clock;
	uint32_t flags;      /* WM_HELLO_* */
	uint32_t path_bytes; /* executable's path, no NUL */
	char comm[16];
	/* char path[path_bytes]; */
};

#define WM_HELLO_FORKED   1u  /* a fork without exec: same image as ppid */
#define WM_HELLO_NOPATCH  2u  /* text could not be patched: only load+test sites work */
#define WM_HELLO_ATTACHED 4u  /* joined through the control page */
#define WM_HELLO_UNWANTED 8u  /* with NOPATCH: WAYMARK_NOPATCH requested it */
#define WM_HELLO_COUNTS   16u /* it counts, as WM_RULES_COUNT requests; an older runtime records */

struct wm_msg_event {
	struct wm_msg h;
	uint32_t id;       /* 0..65535, unique in this process and session */
	uint32_t contexts; /* enum wm_context bits that every record of this id carries */
	uint32_t desc_bytes;
	uint32_t provider_bytes; /* resolved provider, when the description's provider is empty */
				 /* struct waymark_desc ...; char provider[] */
};

/*
 * The memfd holds `bytes` bytes of EVENT and MODULE messages, each padded to 8
 * bytes. They are processed in order, like messages that arrived one by one.
 * The recorder copies the memfd before it reads any of it.
 */
#define WM_BATCH_MAX_BYTES (16u << 20)
struct wm_msg_batch {
	struct wm_msg h;
	uint64_t bytes;
};

struct wm_msg_module {
	struct wm_msg h;
	uint64_t clock;
	uint64_t base;  /* load bias: run-time address = file address + base */
	uint64_t start; /* mapped range */
	uint64_t bytes;
	uint32_t unload; /* 0 loaded (now or earlier), 1 unloaded */
	uint32_t build_id_bytes;
	uint32_t path_bytes;
	uint32_t reserved; /* unsigned char build_id[]; char path[] */
};

struct wm_msg_synced {
	struct wm_msg h;
	uint64_t generation;
	uint32_t nr_events; /* events on for this recorder */
	uint32_t nr_sites;
	uint32_t nr_refused;   /* sites that hold other bytes (a debugger's, a uprobe's) */
	uint32_t nr_unpatched; /* of nr_sites: off, because this process is not patched */
	/*
	 * Bit i of `matched`: rule i applies to an event of this process; of `unfit`:
	 * its filter does not fit one.
	 */
	uint64_t matched[WM_RULES_NR_MAX / 64];
	uint64_t unfit[WM_RULES_NR_MAX / 64];
};

struct wm_msg_counts {
	struct wm_msg h;
	uint64_t filtered_missing; /* events that a glob matched and that lack the filter's field */
};

/* ------------------------------------------------------------------ *
 * DIR/rules: header, then nr_rules times {struct wm_rule, glob, filter}, each
 * record padded to 8 bytes. Each rule has the number of the change that added
 * it; rules are in order of that number. Of the rules that match an event only
 * those of the last change count. If one of these is OFF, the event is off;
 * otherwise it is on, and recorded when the filter of any of them passes.
 * ------------------------------------------------------------------ */
#define WM_RULES_MAGIC     0x5453454c5552574dull
#define WM_RULES_MAX_BYTES (1u << 20)

struct wm_rules_header {
	uint64_t magic;
	uint32_t version; /* WM_PROTOCOL */
	uint32_t bytes;
	uint64_t generation;
	uint32_t nr_rules;
	uint32_t pool_mode;    /* enum wm_pool_mode */
	uint64_t buffer_bytes; /* per process */
	uint32_t chunk_bytes;  /* 0: the default */
	uint32_t block_ms;     /* block mode: wait at most this long */
	uint64_t clock_kind;   /* enum wm_clock_kind the session runs on */
	uint64_t flags;        /* WM_RULES_*; a runtime ignores the flags it does not know */
	uint64_t reserved;
};

#define WM_RULES_COUNT 1u /* events are counted, not recorded: see ring/counts.h */

struct wm_rule {
	uint32_t bytes; /* of this record, padding included */
	uint32_t contexts;
	uint16_t glob_bytes;   /* "provider:name" glob, no NUL */
	uint16_t level_max;    /* events less severe than this do not match; 255: all match */
	uint32_t filter_bytes; /* event/filter.h bytecode; 0: none */
	uint32_t change;       /* ascending within the file */
	uint32_t flags;        /* WM_RULE_* */
};

#define WM_RULE_OFF 1u /* the events it matches are not recorded */

/* ------------------------------------------------------------------ *
 * The control page: how a tool reaches a running process that has neither the
 * agent thread nor a recorder's socket. Exported by the runtime as the symbol
 * `waymark_control` (dynamic symbol table, or symtab of a static program); read
 * with process_vm_readv, written through /proc/PID/mem.
 *
 * Attach: the tool writes `folder`, then attach_request = attach_done + 1, then
 * sets the flag of events to COMPLEX|RECORD and flips their sites; the first
 * thread through a flipped site enters the runtime's gate, sees the request,
 * joins the session as a forked child does, and sets attach_done. If it cannot
 * join, attach_error holds the reason and the sites are off again.
 * ------------------------------------------------------------------ */
#define WM_CONTROL_MAGIC       0x4c544e4f434d57ull
#define WM_CONTROL_SYMBOL      "waymark_control"
#define WM_CONTROL_MODULES_MAX 512u

struct wm_control {
	uint64_t magic;
	uint32_t abi;
	uint32_t nr_modules;     /* w: runtime; entries of modules[] that may be set */
	uint64_t modules;        /* w: runtime; address of struct waymark_module *[nr_modules] */
	uint32_t attach_request; /* w: tool */
	uint32_t attach_done;    /* w: runtime */
	uint32_t flags;          /* w: runtime; WM_CONTROL_* */
	int32_t attach_error;    /* w: runtime; of the last request: 0 or -errno */
	uint32_t reserved[4];
	char folder[1024]; /* w: tool; session folder, NUL-terminated */
};

#define WM_CONTROL_AGENT   1u /* the agent thread runs: use a session's socket instead */
#define WM_CONTROL_NOPATCH 2u /* WAYMARK_NOPATCH: the code must not be patched */

#endif
