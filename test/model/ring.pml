/* SPDX-License-Identifier: MIT */
/*
 * ring.pml - commit, switch, reuse and read of src/ring/, with death anywhere.
 *
 * Two threads emit into N chunks of CAP records; thread 0 is interrupted once, anywhere, by a
 * handler that emits too, into the level above when it finds the first one busy. A reader drains
 * all the while. Each thread may die before any step; the other continues, and the reader reclaims
 * the dead one's chunks. In the end the pool is drained like a dead process's, reclaimed or not.
 *
 * Checked:
 *   - no record is taken that was not committed, or is of another generation than
 *     the chunk was seen in, or twice (take_record)
 *   - emitted = recorded + lost, exactly, whichever thread died at whichever step (drain)
 *   - a writer's chunk is its own until it seals it (SEAL)
 *   - the "nothing is FREE" hint is never set while a chunk is FREE (drain)
 *
 * Correspondence. One alternative of a thread is one access to shared memory, with the private
 * computation that follows it:
 *   st[]              wm_pool_states(): state, REUSED, generation, order or owner
 *   cgen[], committed[], over[], tag[]
 *                     struct wm_chunk: generation, committed (its count), overwritten
 *   slot[]            the records' bytes
 *   freed, none_free, filled, none_full, order
 *                     struct wm_pool_shelf
 *   FIND SCAN NOFREE  find_free() of pool.c
 *   FINDFULL .. REUSE find_oldest(), search_oldest() of pool.c
 *   OVER CLEAR NAME   wm_pool_take() of pool.c
 *   SEAL COUNT        retire() of pool.c, called by wm_pool_seal()
 *   WRITE COMMIT      waymark_open_record() .. waymark_commit() of <waymark/arch.h>
 *   reader            wm_pool_pin(), _committed(), _still(), _release() of
 *                     pool_reader.c, as used by src/collect/pool_source.c and snapshot.c
 *   reclaim           wm_pool_reclaim(), finish_take() of pool.c
 *   drain             wm_pump_finish(), wm_pool_lost_count()
 *
 * A load and the compare-and-swap that expects its value are one step where failure means "try the
 * next chunk": a failed one is equivalent to a later load. reclaim is one step: no other process
 * touches a chunk whose owner is dead.
 *
 * Left out: find_new() (a chunk never used is FREE of generation 0 here), the hand and the queue of
 * orders (they only choose where to look first; the same compare-and-swap decides), and store
 * buffers: no step relies on its own unlocked write having been seen before its next load.
 *
 * -DOVERWRITE: the flight recorder, else discard mode. -DE0, -DE1: number of events of each thread;
 * -DHANDLER: with the handler. -DBUGn seeds a fault that a run must find.
 */
#define N 2
#ifndef CAP
#define CAP 1
#endif
#ifndef E0
#define E0 2
#endif
#ifndef E1
#define E1 2
#endif
#define NONE N

#define FREE    0
#define OWNED   1
#define FULL    2
#define READING 3

/* A state word: 2 bits state, REUSED, 4 bits generation, 4 bits order or owner. */
#define REUSED            4
#define WORD(s, gen, ord) ((s) + 8 * (gen) + 128 * (ord))
#define STATE(w)          ((w) & 3)
#define GEN(w)            (((w) >> 3) & 15)
#define ORDER(w)          ((w) >> 7)

/* --- shared memory ---------------------------------------------------- */
short st[N];
byte cgen[N], committed[N], over[N], tag[N];
byte slot[N * CAP]; /* number + 8 * generation of the chunk */
byte freed, none_free, filled, none_full, order;
byte lost_full;

/* --- private: writers 0 and 1 are thread 0's levels, 2 is thread 1's --- */
#define IDLE     0
#define SCAN     1
#define NOFREE   2
#define FINDFULL 3
#define SCANFULL 4
#define NOFULL   5
#define REUSE    6
#define OVER     7
#define CLEAR    8
#define NAME     9
#define SEAL     10
#define COUNT    11
#define WRITE    12
#define COMMIT   13
#define LOST     14

byte pc[3], chunk[3] = NONE, count[3], number[3];
short w[3];
byte r[3] = NONE, i[3], f[3];
bit gone[2]; /* dead, or at its end */

/* --- ground truth ------------------------------------------------------ */
byte emitted, recorded;
byte seen; /* one bit per record */

#ifdef OVERWRITE
#define NOTHING FINDFULL
#else
#define NOTHING LOST
#endif
#ifdef BUG2 /* the chunk is named before its commit word is cleared */
#define TAKEN NAME
#else
#define TAKEN CLEAR
#endif

inline find(l)
{
	f[l] = freed;
	i[l] = 0;
	pc[l] = (none_free == freed + 1 -> NOTHING : SCAN)
}

inline write(l)
{
	slot[chunk[l] * CAP + count[l]] = number[l] + 8 * cgen[chunk[l]];
	pc[l] = COMMIT
}

inline commit(l)
{
	count[l]++;
	committed[chunk[l]] = count[l];
	emitted++
}

inline rest(l)
{
	w[l] = 0; r[l] = NONE; i[l] = 0; f[l] = 0; number[l] = 0;
	pc[l] = IDLE
}

/* The first step of an event. */
inline begin(l, id)
{
	number[l] = id;
	if
	:: chunk[l] == NONE || count[l] == CAP -> find(l)
#ifdef BUG1 /* commits first */
	:: else -> commit(l); count[l]--; pc[l] = COMMIT
#else
	:: else -> write(l)
#endif
	fi
}

inline settle(l) /* from now on r[l] is the writer's chunk */
{
	chunk[l] = r[l];
	count[l] = 0;
	pc[l] = WRITE
}

inline use(l) /* settles at once, or after the previous chunk is sealed */
{
	if
	:: chunk[l] == NONE -> settle(l)
	:: else -> pc[l] = SEAL
	fi
}

/* One step of writer l, which is not IDLE. */
inline step(l)
{
	if
	:: pc[l] == SCAN ->
		w[l] = st[i[l]];
		if
		:: STATE(w[l]) == FREE ->
			st[i[l]] = WORD(OWNED, GEN(w[l]) + 1, l);
			r[l] = i[l];
			pc[l] = TAKEN
		:: else ->
			w[l] = 0;
			i[l]++;
			pc[l] = (i[l] == N -> NOFREE : SCAN)
		fi
	:: pc[l] == NOFREE -> none_free = f[l] + 1; pc[l] = NOTHING
	:: pc[l] == FINDFULL ->
		f[l] = filled;
		i[l] = 0; w[l] = 0; r[l] = NONE;
		pc[l] = (none_full == filled + 1 -> LOST : SCANFULL)
	:: pc[l] == SCANFULL ->
		if
		:: STATE(st[i[l]]) == FULL && (r[l] == NONE || ORDER(st[i[l]]) < ORDER(w[l])) ->
			r[l] = i[l];
			w[l] = st[i[l]]
		:: else
		fi;
		i[l]++;
		pc[l] = (i[l] < N -> SCANFULL : (r[l] == NONE -> NOFULL : REUSE))
	:: pc[l] == NOFULL -> none_full = f[l] + 1; pc[l] = LOST
	:: pc[l] == REUSE ->
		if
		:: st[r[l]] == w[l] ->
			st[r[l]] = WORD(OWNED, GEN(w[l]) + 1, l) + REUSED;
#ifdef BUG4 /* the overwritten records are counted after their count is cleared */
			f[l] = committed[r[l]];
			pc[l] = CLEAR
#else
			pc[l] = OVER
#endif
		:: else -> pc[l] = FINDFULL
		fi
	:: pc[l] == OVER ->
#ifdef BUG4
		over[r[l]] = over[r[l]] + f[l];
		pc[l] = NAME;
#else
		over[r[l]] = over[r[l]] + committed[r[l]];
		pc[l] = TAKEN;
#endif
		tag[r[l]] = GEN(w[l]) + 1
#ifdef BUG2
	:: pc[l] == NAME -> cgen[r[l]] = GEN(w[l]) + 1; pc[l] = CLEAR
	:: pc[l] == CLEAR -> committed[r[l]] = 0; use(l)
#else
	:: pc[l] == CLEAR ->
		committed[r[l]] = 0;
		pc[l] = NAME;
#ifdef BUG4
		pc[l] = (STATE(w[l]) == FULL -> OVER : NAME)
#endif
	:: pc[l] == NAME -> cgen[r[l]] = GEN(w[l]) + 1; use(l)
#endif
	:: pc[l] == SEAL ->
		w[l] = st[chunk[l]];
		assert(STATE(w[l]) == OWNED && ORDER(w[l]) == l && count[l]);
		st[chunk[l]] = WORD(FULL, GEN(w[l]), order);
		order++;
#ifdef OVERWRITE
		pc[l] = COUNT
#else
		settle(l)
#endif
	:: pc[l] == COUNT -> filled++; settle(l)
#ifdef BUG1
	:: pc[l] == WRITE -> commit(l); count[l]--; pc[l] = COMMIT
	:: pc[l] == COMMIT -> write(l); count[l]++; rest(l)
#else
	:: pc[l] == WRITE -> write(l)
	:: pc[l] == COMMIT -> commit(l); rest(l)
#endif
	:: pc[l] == LOST -> lost_full++; emitted++; rest(l)
	fi
}

inline leave(t, l)
{
	gone[t] = 1;
	rest(l);
	chunk[l] = NONE;
	count[l] = 0
}

/* Records 0 and 1; the handler's is 2. */
proctype thread0()
{
	byte next;
	bit handled; /* the handler has begun */
	byte l;      /* the running level */

	do
	:: d_step { pc[l] != IDLE -> step(l) }
	:: d_step { pc[0] == IDLE && pc[1] == IDLE && next < E0 -> l = 0; begin(0, next); next++ }
	:: d_step { l == 1 && pc[0] != IDLE && pc[1] == IDLE -> l = 0 } /* the handler returns */
#ifdef HANDLER
#ifdef BUG5 /* the first level is not marked busy */
	:: d_step {
		!handled && pc[0] == COMMIT && count[0] + 1 < CAP ->
		handled = 1;
		slot[chunk[0] * CAP + count[0]] = 2 + 8 * cgen[chunk[0]];
		commit(0)
	}
#endif
	/* The handler may use an idle level, but not between busy and the first step. */
	:: d_step { !handled && pc[0] == IDLE && pc[1] == IDLE -> handled = 1; l = 0; begin(0, 2) }
	:: d_step { !handled && pc[1] == IDLE -> handled = 1; l = 1; begin(1, 2) }
#endif
	:: d_step { 1 -> leave(0, 0); leave(0, 1); next = 0; handled = 0; l = 0 } ; break
	od
}

/* Records 3 and 4. */
proctype thread1()
{
	byte next;

	do
	:: d_step { pc[2] != IDLE -> step(2) }
	:: d_step { pc[2] == IDLE && next < E1 -> begin(2, 3 + next); next++ }
	:: d_step { 1 -> leave(1, 2); next = 0 } ; break
	od
}

/* --- the reader ----------------------------------------------------------- */

/* `v` was read from a chunk seen in generation `gen`. */
inline take_record(v, gen)
{
	assert(v && v >> 3 == gen);
	if
	:: keep ->
		assert(!(seen & (1 << (v & 7))));
		seen = seen | (1 << (v & 7));
		recorded++
	:: else
	fi
}

/* The reader holds chunk c in READING; or the process is dead. Records from[] on are new. */
inline read_whole()
{
	n = committed[c];
	k = (from_gen[c] == GEN(s) -> from[c] : 0);
	do
	:: k < n -> take_record(slot[c * CAP + k], GEN(s)); k++
	:: else -> break
	od;
	if
	:: keep -> from_gen[c] = GEN(s); from[c] = n
	:: else
	fi
}

inline read_copy()
{
	k = (from_gen[c] == GEN(s) -> from[c] : 0);
	do
	:: k < n -> take_record(copy[k], GEN(s)); k++
	:: else -> break
	od;
	if
	:: keep -> from_gen[c] = GEN(s); from[c] = n
	:: else
	fi
}

inline copy_chunk()
{
	k = 0;
	do
	:: k < CAP -> copy[k] = slot[c * CAP + k]; k++
	:: else -> break
	od
}

inline reclaim()
{
	if
	:: cgen[c] != GEN(s) ->
		if
#ifdef BUG8 /* counts records that the dead thread may have counted */
		:: (s & REUSED) ->
#else
		:: (s & REUSED) && tag[c] != GEN(s) ->
#endif
			over[c] = over[c] + committed[c];
			tag[c] = GEN(s)
		:: else
		fi;
		committed[c] = 0;
		cgen[c] = GEN(s)
	:: else
	fi;
	if
	:: committed[c] == 0 -> st[c] = WORD(FREE, GEN(s), 0); n = 1
	:: else -> st[c] = WORD(FULL, GEN(s), order); order++; n = 0
	fi
}

#define FORGET s = 0; n = 0; k = 0; ok = 0; keep = 0; c = 0

/* The end of the run. Chunks still OWNED are final: their owners are dead. */
inline drain()
{
	lost = lost_full;
	keep = 1;
	c = 0;
	do
	:: c < N ->
		s = st[c];
		if
		:: STATE(s) == FULL || (STATE(s) == OWNED && cgen[c] == GEN(s)) -> read_whole()
		:: else
		fi;
		lost = lost + over[c];
		if
		:: (s & REUSED) && cgen[c] != GEN(s) && tag[c] != GEN(s) -> lost = lost + committed[c]
		:: else
		fi;
		assert(STATE(s) != FREE || none_free != freed + 1);
		c++
	:: else -> break
	od;
	assert(emitted == recorded + lost)
}

proctype reader()
{
	short s;
	byte c, n, k, lost, looks;
	byte copy[CAP], from[N], from_gen[N];
	bit keep, ok;

look:
	atomic {
		if
		:: gone[0] && gone[1] -> goto finish
		:: c = 0
		:: c = 1
		fi;
		s = st[c];
		if
#ifdef BUG7 /* takes the chunk without checking that its state is unchanged */
		:: STATE(s) == FULL -> goto pin
#else
		:: STATE(s) == FULL -> st[c] = WORD(READING, GEN(s), ORDER(s)); goto pinned
#endif
		:: STATE(s) == OWNED && gone[ORDER(s) >> 1] -> reclaim(); goto reclaimed
		:: STATE(s) == OWNED && !gone[ORDER(s) >> 1] -> goto open
		:: else -> FORGET; goto look
		fi
	};
#ifdef BUG7
pin:
	st[c] = WORD(READING, GEN(s), ORDER(s));
#endif
pinned:
	atomic {
		keep = 1;
#ifdef OVERWRITE
		if
		:: looks < 1 -> keep = 0; looks++
		:: skip
		fi;
#endif
		assert(cgen[c] == GEN(s));
		read_whole()
	};
	if
	:: !keep -> st[c] = WORD(FULL, GEN(s), ORDER(s)); goto filled_one
#ifdef BUG6 /* counted before the chunk is FREE */
	:: keep -> freed++; d_step { st[c] = WORD(FREE, GEN(s), 0); FORGET }; goto look
#else
	:: keep -> st[c] = WORD(FREE, GEN(s), 0); goto freed_one
#endif
	fi;
reclaimed:
	if
	:: n == 1 -> goto freed_one
	:: else -> goto filled_one
	fi;
freed_one:
	atomic { freed++; FORGET };
	goto look;
filled_one:
	atomic {
#ifdef OVERWRITE
		filled++;
#endif
		FORGET
	};
	goto look;
open:
	ok = (cgen[c] == GEN(s));
	d_step { n = (ok -> committed[c] : 0); ok = 0 };
	d_step {
		k = (from_gen[c] == GEN(s) -> from[c] : 0);
		ok = (GEN(st[c]) == GEN(s) && n > k)
	};
	if
	:: !ok -> d_step { FORGET }; goto look
	:: else
	fi;
	d_step { copy_chunk() };
	d_step {
#ifndef BUG3 /* does not check that the chunk's generation is unchanged */
		ok = (GEN(st[c]) == GEN(s));
#endif
#ifndef OVERWRITE
		keep = 1;
#endif
		if
		:: ok -> read_copy()
		:: else
		fi;
		k = 0;
		do
		:: k < CAP -> copy[k] = 0; k++
		:: else -> break
		od;
		FORGET
	};
	goto look;
finish:
	atomic { drain() }
}

init
{
	atomic {
		run thread0();
		run thread1();
		run reader()
	}
}
