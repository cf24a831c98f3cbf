/* SPDX-License-Identifier: MIT */
/*
 * agent.h - the protocol between a traced process and a recorder: the session folder, the socket
 * messages and the control page. This is the only header of this room that control/ may include.
 * doc/format/control.md describes the protocol.
 *
 * A recorder owns a session folder (0700):
 *
 *   DIR/sock    Unix SOCK_SEQPACKET, listening; the recorder accepts
 *   DIR/rules   which events to enable: struct wm_rules_header, then the rules;
 *               replaced as a whole (rename) when it changes
 *
 * A process finds its recorders in $WAYMARK_SESSION, a list of folders separated by ':' (inherited
 * across fork and exec), or through an attach request (below). It reads `rules` itself, before
 * main, so it waits for no other process; it creates the pool, connects, sends HELLO with the
 * pool's descriptor, MODULE for each module, EVENT for each event it is about to enable, and only
 * then enables it. So every EVENT is in the socket before the first record with its id is in the
 * pool: a reader that takes a snapshot of the commit words first and drains the socket second knows
 * every id it meets.
 *
 * A forked child does the same from the slow path of its first event; after an exec, the
 * constructor of the new image does it. Connections are per process; the recorder takes pid and uid
 * from SO_PEERCRED, never from the message.
 *
 * Words are little-endian, and messages are at most WM_MSG_MAX bytes; everything received is
 * untrusted and range-checked.
 */
#ifndef WM_RUNTIME_AGENT_H
#define WM_RUNTIME_AGENT_H

#include <stdint.h>

#include "event/context.h"

#define WM_SESSION_ENV  "WAYMARK_SESSION"
#define WM_AGENT_NAME   "waymark" /* name of the runtime's thread */
#define WM_PROTOCOL     2
#define WM_MSG_MAX      65536u
#define WM_RULES_NR_MAX 1024u /* rules in DIR/rules */

enum wm_msg_type {
	/* Messages from the process to the recorder. */
	WM_MSG_HELLO = 1,  /* struct wm_msg_hello; carries the pool's descriptor */
	WM_MSG_EVENT = 2,  /* struct wm_msg_event, then the description's bytes */
	WM_MSG_MODULE = 3, /* struct wm_msg_module, then build-id, then path */
	WM_MSG_SYNCED = 4, /* struct wm_msg_synced: the rules of this generation are in effect */
	WM_MSG_BYE = 5,    /* struct wm_msg: no more events from this process */
	WM_MSG_COUNTS = 6, /* struct wm_msg_counts: sent when a count has changed */
	/* Struct wm_msg_batch; carries a memfd with thousands of messages, to save system calls. */
	WM_MSG_BATCH = 7,
	/* Messages from the recorder to the process. */
	WM_MSG_RULES = 32,  /* struct wm_msg: read DIR/rules again */
	WM_MSG_DETACH = 33, /* struct wm_msg: disable all events of this session, send BYE */
	WM_MSG_LAST = 34,   /* struct wm_msg_last: like DETACH, as the process's last thread */
};

struct wm_msg {
	uint32_t type;
	uint32_t bytes; /* size of the whole message */
};

/*
 * All other threads of the process have exited. Its exit status is that of the last thread, which
 * is the agent: it takes the status of the process's first thread.
 */
struct wm_msg_last {
	struct wm_msg h;
	uint32_t status;
	uint32_t reserved;
};

struct wm_msg_hello {
	struct wm_msg h;
	uint32_t protocol;
	uint32_t abi;
	uint32_t pid;  /* the process's own getpid(), as seen in its pid namespace */
	uint32_t ppid; /* likewise */
	uint64_t pool_bytes;
	uint64_t start_clock;
	uint32_t flags;      /* WM_HELLO_* */
	uint32_t path_bytes; /* length of the executable's path, not NUL-terminated */
	char comm[16];
	/* char path[path_bytes]; */
};

#define WM_HELLO_FORKED   1u /* forked without exec: same image as process ppid */
#define WM_HELLO_NOPATCH  2u /* code could not be patched: only load+test sites work */
#define WM_HELLO_ATTACHED 4u /* joined through the control page */
#define WM_HELLO_UNWANTED 8u /* with NOPATCH: because WAYMARK_NOPATCH is set */
/* The process counts events, as WM_RULES_COUNT requests; an older runtime would record them. */
#define WM_HELLO_COUNTS 16u

struct wm_msg_event {
	struct wm_msg h;
	uint32_t id;       /* 0..65535, unique in this process and session */
	uint32_t contexts; /* enum wm_context bits of the contexts in every record with this id */
	uint32_t desc_bytes;
	/* Size of the resolved provider, sent when the description's provider is empty. */
	uint32_t provider_bytes;
	/* struct waymark_desc ...; char provider[] */
};

/*
 * The memfd holds `bytes` bytes of EVENT and MODULE messages, each padded to 8 bytes. They are
 * processed in order, as if they had arrived one by one. The recorder copies the memfd before it
 * reads any of it.
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
	uint32_t unload; /* 0: loaded (now or earlier); 1: unloaded */
	uint32_t build_id_bytes;
	uint32_t path_bytes;
	uint32_t reserved; /* unsigned char build_id[]; char path[] */
};

struct wm_msg_synced {
	struct wm_msg h;
	uint64_t generation;
	uint32_t nr_events; /* number of events enabled for this recorder */
	uint32_t nr_sites;
	/* Number of sites that contain foreign bytes (a debugger's, a uprobe's) */
	uint32_t nr_refused;
	/* How many of nr_sites stay disabled because this process is not patched. */
	uint32_t nr_unpatched;
	/*
	 * Bit i of `matched` is set when rule i applies to an event in this process; bit i of
	 * `unfit`, when the rule's filter cannot be applied to an event.
	 */
	uint64_t matched[WM_RULES_NR_MAX / 64];
	uint64_t unfit[WM_RULES_NR_MAX / 64];
};

struct wm_msg_counts {
	struct wm_msg h;
	/* Number of events that matched a glob but lack a field that the filter needs. */
	uint64_t filtered_missing;
};

/* ------------------------------------------------------------------ *
 * DIR/rules: a header, then nr_rules of {struct wm_rule, glob, filter}, each padded to 8 bytes.
 * Each rule carries the number of the change that added it; rules are sorted by that number. When
 * rules from several changes match an event, only those from the last change count. If one of these
 * is OFF, the event is off; otherwise it is on, and recorded when any of their filters passes.
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
	uint32_t chunk_bytes;  /* 0: the default size */
	uint32_t block_ms;     /* block mode: longest wait */
	uint64_t clock_kind;   /* enum wm_clock_kind of the session's clock */
	uint64_t flags;        /* WM_RULES_*; a runtime ignores unknown flags */
	uint64_t reserved;
};

#define WM_RULES_COUNT 1u /* events are counted, not recorded: see ring/counts.h */

struct wm_rule {
	uint32_t bytes; /* size of this record, including padding */
	uint32_t contexts;
	uint16_t glob_bytes;   /* "provider:name" glob, no NUL */
	uint16_t level_max;    /* events less severe than this do not match; 255: all match */
	uint32_t filter_bytes; /* size of event/filter.h bytecode; 0: no filter */
	uint32_t change;       /* never decreases within the file */
	uint32_t flags;        /* WM_RULE_* */
};

#define WM_RULE_OFF 1u /* matching events are not recorded */

/* ------------------------------------------------------------------ *
 * The control page, by which a tool reaches a running process that has neither the agent thread nor
 * a recorder's socket. Exported by the runtime as the symbol `waymark_control` (dynamic symbol
 * table, or symtab of a static program); read with process_vm_readv, written through /proc/PID/mem.
 *
 * Attach: the tool writes `folders`, then increments attach_request, then sets the flags of events
 * to COMPLEX|RECORD and flips their sites; the first thread through a flipped site enters the
 * runtime's gate, sees the request, joins the sessions as a forked child does, and sets attach_done
 * to the request that it saw. If it cannot join, attach_error holds the reason and the sites are
 * off again. While a request is pending, another tool may append its folder and increment
 * attach_request; a runtime that copied `folders` meanwhile, perhaps torn, sees the higher request
 * and reads the folders again.
 * ------------------------------------------------------------------ */
#define WM_CONTROL_MAGIC       0x4c544e4f434d57ull
#define WM_CONTROL_SYMBOL      "waymark_control"
#define WM_CONTROL_MODULES_MAX 512u

struct wm_control {
	uint64_t magic;
	uint32_t abi;
	uint32_t nr_modules;     /* w: runtime; number of entries in use in modules[] */
	uint64_t modules;        /* w: runtime; address of struct waymark_module *[nr_modules] */
	uint32_t attach_request; /* w: tool */
	uint32_t attach_done;    /* w: runtime */
	uint32_t flags;          /* w: runtime; WM_CONTROL_* */
	int32_t attach_error;    /* w: runtime; result of the last request: 0 or the first -errno */
	uint32_t reserved[4];
	/* w: tool; session folders, separated by ':' as in WM_SESSION_ENV, NUL-terminated */
	char folders[1024];
};

#define WM_CONTROL_AGENT   1u /* the agent thread is running: use a session's socket instead */
#define WM_CONTROL_NOPATCH 2u /* WAYMARK_NOPATCH is set: the code must not be patched */
#define WM_CONTROL_LIST    4u /* `folders` may hold several; runtime 0.1.0 takes only one */

#endif
