/* SPDX-License-Identifier: MIT */
/*
 * flip.pml - the life of an event: enabled, hit, disabled, its id given to another event; a
 * callback connected and disconnected. One thread runs through the sites, interrupted once by a
 * handler that does too; the agent turns them on and off meanwhile. The thread's stores go through
 * a store buffer (x86-TSO: first in, first out, visible to others when they leave it; a load may
 * overtake them).
 *
 * Events: A, of session 1, and B, of session 2, have the same id 1. C has a callback. Session 2
 * takes the slot of session 1, whose pool is unmapped.
 *
 * Checked:
 *   - a record in a session's pool is of an event that the session enabled, and the
 *     recorder received the id before (WROTE)
 *   - no store goes to an unmapped pool (RECORD, WROTE)
 *   - no callback begins, runs or ends after it was removed and synchronised
 *     with (CALL, RETURN)
 *
 * Correspondence:
 *   insn[], word[]   the patched byte; struct waymark_event_state.word
 *   current          the thread's wm_current, as in memory: level in use
 *   room[], session_of[]  struct waymark_writer: end != 0; the session of its chunk's pool
 *   progress         the value that wm_thread_quiesce() compares, of level 0
 *   session          struct wm_session.active of slot 0, and its generation
 *   hit              WAYMARK_EMIT_BLOCK_ of <waymark/emit.h>:
 *     MARK .. DONE     waymark_busy(), load of word, waymark_open_record(), _commit()
 *     SLOW, SETTLE     wm_slow(), wm_chunk_next() of src/runtime/slow.c
 *     BIND .. RETURN   wm_guest_probe_run() of src/runtime/gate.c
 *   agent            wm_plan_update_all() (plan.c), wm_guest_session_leave(),
 *                    settle_slot(), wm_guest_session_join() (session.c),
 *                    waymark_probe_remove() and waymark_rt_synchronize() (probe.c)
 *   quiesce          wm_thread_quiesce() of src/runtime/thread.c
 *
 * The requirement on quiesce: a thread has passed when it was seen idle, or when level 0 has
 * advanced so much that an emit later than the one in progress at the start must have begun. One
 * store of progress does not prove that: it may be that of the emit in progress, which has not
 * committed yet. Nor does a handler's.
 *
 * An instruction fetched before a flip and executed after it is the load of insn[] long before the
 * next step. SLOW is full of locked instructions, so it waits for the buffer. -DBUGn seeds a fault
 * that a run must find.
 */
#ifndef HITS
#define HITS 3
#endif

#define A 0
#define B 1
#define C 2

/* struct waymark_event_state.word */
#define COMPLEX 0
#define DIRECT  1 /* id 1 */
#define PROBES  2

bit insn[3];
byte word[3]; /* initially COMPLEX */
byte current, progress;
bit room[2];
byte session_of[2];
byte session = 1;
bit mapped[3], announced[3];
bit binding, removed;

/* --- the thread's store buffer ------------------------------------------- */
#define CURRENT  0
#define PROGRESS 1
#define RECORD   2
#define WROTE    3
#define ROOM_IN_BUFFER (len(buffer) < 4)
chan buffer = [4] of { byte, byte, byte };

active proctype memory()
{
	byte what, x, y;

end_empty:
	do
	:: d_step {
		buffer?what, x, y ->
		if
		:: what == CURRENT -> current = x
		:: what == PROGRESS -> progress++
		:: what == RECORD -> assert(mapped[x])
		:: what == WROTE ->
			assert(mapped[x] && announced[x]);
			assert(x == 1 && y == A || x == 2 && y == B)
		fi;
		what = 0; x = 0; y = 0
	}
	od
}

/* --- the thread ------------------------------------------------------------ */
#define OUTSIDE 0
#define MARK    1
#define LOAD    2
#define BIND    3
#define CALL    4
#define RETURN  5
#define PASS    6
#define ROOM    7
#define SLOW    8
#define SETTLE  9
#define WRITE   10
#define ADVANCE 11
#define COMMIT  12
#define DONE    13

byte pc[2], event[2], taken[2];

/* One step of the emit at level l. */
inline hit(l)
{
	if
#ifdef BUG7 /* loads the word before it stores that it is busy */
	:: pc[l] == MARK -> taken[l] = 1 + word[event[l]]; pc[l] = LOAD
	:: pc[l] == LOAD && ROOM_IN_BUFFER ->
		buffer!CURRENT, l + 1, 0;
		pc[l] = (taken[l] == 1 + DIRECT -> ROOM : (taken[l] == 1 + PROBES -> BIND : DONE));
		taken[l] = 0
#else
	:: pc[l] == MARK && ROOM_IN_BUFFER -> buffer!CURRENT, l + 1, 0; pc[l] = LOAD
	:: pc[l] == LOAD ->
		pc[l] = (word[event[l]] == DIRECT -> ROOM :
				(word[event[l]] == PROBES -> BIND : DONE))
#endif
	:: pc[l] == BIND -> pc[l] = (binding -> CALL : PASS)
	:: pc[l] == CALL -> assert(!removed); pc[l] = RETURN
	:: pc[l] == RETURN -> assert(!removed); pc[l] = PASS
	:: pc[l] == PASS && ROOM_IN_BUFFER ->
		if
#ifndef BUG4 /* a handler's progress is taken for the thread's */
		:: l == 1
#endif
		:: else -> buffer!PROGRESS, 0, 0
		fi;
		pc[l] = DONE
	:: pc[l] == ROOM -> pc[l] = (room[l] -> WRITE : SLOW)
	:: pc[l] == SLOW && len(buffer) == 0 ->
		taken[l] = session;
		pc[l] = (session -> SETTLE : DONE)
	:: pc[l] == SETTLE ->
		session_of[l] = taken[l];
		taken[l] = 0;
		room[l] = 1;
#ifdef BUG7
		pc[l] = WRITE
#else
		pc[l] = LOAD
#endif
	:: pc[l] == WRITE && ROOM_IN_BUFFER ->
		buffer!RECORD, session_of[l], event[l];
		pc[l] = ADVANCE
	:: pc[l] == ADVANCE && ROOM_IN_BUFFER ->
		if
#ifndef BUG4
		:: l == 1
#endif
		:: else -> buffer!PROGRESS, 0, 0
		fi;
		pc[l] = COMMIT
	:: pc[l] == COMMIT && ROOM_IN_BUFFER ->
		buffer!WROTE, session_of[l], event[l];
		pc[l] = DONE
	:: pc[l] == DONE && ROOM_IN_BUFFER ->
		buffer!CURRENT, l, 0;
		event[l] = 0;
		pc[l] = OUTSIDE
	fi
}

#define ANY_ON (insn[A] || insn[B] || insn[C])

inline fetch(l)
{
	if
	:: insn[A] -> event[l] = A
	:: insn[B] -> event[l] = B
	:: insn[C] -> event[l] = C
	fi;
	pc[l] = MARK
}

active proctype thread()
{
	byte hits;
	bit handled; /* the handler has begun */
	byte l;      /* the running level */

	do
	:: atomic { pc[l] != OUTSIDE -> hit(l) }
	:: atomic { pc[0] == OUTSIDE && pc[1] == OUTSIDE && hits < HITS && ANY_ON -> l = 0; fetch(0); hits++ }
	/* Before MARK the handler would find level 0 idle: then it is just another hit. */
	:: atomic { !handled && pc[0] > MARK && pc[1] == OUTSIDE && ANY_ON -> handled = 1; l = 1; fetch(1) }
	:: d_step { l == 1 && pc[1] == OUTSIDE -> l = 0 }
	:: pc[0] == OUTSIDE && pc[1] == OUTSIDE -> break
	od
}

/* --- the agent --------------------------------------------------------------- */
#ifdef BUG3 /* one store of progress is taken for a whole emit */
#define ENOUGH 1
#else
#define ENOUGH 2
#endif

inline quiesce()
{
#ifndef BUG1 /* the thread may be busy with the store still in its buffer */
	len(buffer) == 0;
#endif
	d_step { was = progress; steps = 0 };
	do
	:: current == 0 -> break
	:: d_step { progress != was && current != 0 -> was = progress; steps++ };
		if
		:: steps == ENOUGH -> break
		:: else
		fi
	od;
	atomic { was = 0; steps = 0 }
}

inline replace_session()
{
	insn[A] = 0;
#ifndef BUG2 /* a thread past the site still finds the event on */
	word[A] = COMPLEX;
#endif
	quiesce();
	session = 0;
	mapped[1] = 0;
#ifndef BUG5 /* writers keep their position in the old pool */
	room[0] = 0;
	room[1] = 0;
#endif
	mapped[2] = 1;
	session = 2;
#ifdef BUG6 /* the recorder receives the id too late */
	word[B] = DIRECT;
	insn[B] = 1;
	announced[2] = 1
#else
	announced[2] = 1;
	word[B] = DIRECT;
	insn[B] = 1
#endif
}

inline remove_callback()
{
	insn[C] = 0;
	word[C] = COMPLEX;
	binding = 0;
	quiesce();
	removed = 1
}

active proctype agent()
{
	byte was, steps;

	d_step { mapped[1] = 1; announced[1] = 1 };
	word[A] = DIRECT;
	insn[A] = 1;
	binding = 1;
	word[C] = PROBES;
	insn[C] = 1;
	if
	:: replace_session(); remove_callback()
	:: remove_callback(); replace_session()
	fi
}
