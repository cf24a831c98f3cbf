/* SPDX-License-Identifier: MIT */
/*
 * locks.c - uses mutexes, read-write locks, condition variables and threads, checks the result of
 * each call, and prints the number of calls as "event count" lines, sorted by name.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 4
#define ROUNDS  1000

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* Checks that the call returns the expected result and does not change errno. */
#define CALL(due, call)                                                                            \
	do {                                                                                       \
		errno = 4711;                                                                      \
		CHECK((call) == (due));                                                            \
		CHECK(errno == 4711);                                                              \
	} while (0)

enum {
	BROADCAST,
	SIGNAL,
	WAIT,
	ACQUIRE,
	RELEASE,
	RELEASE_FAILED,
	RW_ACQUIRE,
	RW_RELEASE,
	CREATE,
	KINDS
};
static unsigned long n[KINDS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static const struct timespec past = {1, 0};
static unsigned long shared;
static int waiting, go;

static void lock(pthread_mutex_t *m)
{
	CALL(0, pthread_mutex_lock(m));
	n[ACQUIRE]++;
}

static void unlock(pthread_mutex_t *m)
{
	n[RELEASE]++;
	CALL(0, pthread_mutex_unlock(m));
}

static void *work(void *p)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock(&mutex);
		shared++;
		unlock(&mutex);
	}
	return p;
}

static void *leave(void *p)
{
	pthread_exit(p);
}

static void *wait_for_go(void *p)
{
	lock(&mutex);
	waiting = 1;
	while (!go) {
		n[WAIT]++;
		CALL(0, pthread_cond_wait(&cond, &mutex));
	}
	unlock(&mutex);
	return p;
}

static void give_up(void *p)
{
	go = -1;
	unlock(p);
}

static void *wait_for_ever(void *p)
{
	lock(&mutex);
	pthread_cleanup_push(give_up, &mutex);
	waiting = 2;
	for (;;) {
		n[WAIT]++;
		(void)pthread_cond_wait(&cond, &mutex);
	}
	pthread_cleanup_pop(1);
	return p;
}

static pthread_t start(void *(*routine)(void *), void *p)
{
	pthread_t t;

	n[CREATE]++;
	CALL(0, pthread_create(&t, NULL, routine, p));
	return t;
}

static void join(pthread_t t, void *due)
{
	void *result;

	CHECK(pthread_join(t, &result) == 0 && result == due);
}

/*
 * Returns when the other thread waits on its condition: that thread holds the mutex from setting
 * `waiting` until it waits.
 */
static void until_waiting(int which)
{
	int now = 0;

	while (now != which) {
		lock(&mutex);
		now = waiting;
		unlock(&mutex);
		(void)nanosleep(&(struct timespec){0, 200000}, NULL);
	}
}

static void mutexes(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t strict;

	lock(&plain);
	for (int i = 0; i < 3; i++)
		CALL(EBUSY, pthread_mutex_trylock(&plain));
	CALL(ETIMEDOUT, pthread_mutex_timedlock(&plain, &past));
	CALL(ETIMEDOUT, pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past));
	n[ACQUIRE] += 5;
	unlock(&plain);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&strict, &attr);
	CALL(EPERM, pthread_mutex_unlock(&strict));
	n[RELEASE]++;
	n[RELEASE_FAILED]++;
	lock(&strict);
	CALL(EDEADLK, pthread_mutex_lock(&strict));
	n[ACQUIRE]++;
	unlock(&strict);
}

static void rwlocks(void)
{
	const struct timespec future = {1ll << 40, 0};

	CALL(0, pthread_rwlock_rdlock(&rwlock));
	CALL(0, pthread_rwlock_tryrdlock(&rwlock));
	CALL(0, pthread_rwlock_timedrdlock(&rwlock, &future));
	CALL(0, pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &future));
	CALL(EBUSY, pthread_rwlock_trywrlock(&rwlock));
	CALL(ETIMEDOUT, pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(ETIMEDOUT, pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	for (int i = 0; i < 4; i++)
		CALL(0, pthread_rwlock_unlock(&rwlock));
	CALL(0, pthread_rwlock_wrlock(&rwlock));
	CALL(0, pthread_rwlock_unlock(&rwlock));
	n[RW_ACQUIRE] += 8;
	n[RW_RELEASE] += 5;
}

static void conditions(void)
{
	pthread_t t = start(wait_for_go, &go);

	until_waiting(1);
	lock(&mutex);
	go = 1;
	CALL(0, pthread_cond_signal(&cond));
	CALL(0, pthread_cond_broadcast(&cond));
	n[SIGNAL]++;
	n[BROADCAST]++;
	unlock(&mutex);
	join(t, &go);
	t = start(wait_for_ever, NULL);
	until_waiting(2);
	CHECK(pthread_cancel(t) == 0);
	join(t, PTHREAD_CANCELED);
	CHECK(go == -1);
	lock(&mutex);
	CALL(ETIMEDOUT, pthread_cond_timedwait(&cond, &mutex, &past));
	CALL(ETIMEDOUT, pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past));
	n[WAIT] += 2;
	unlock(&mutex);
}

int main(void)
{
	static const char *const names[KINDS] = {
	    "cond_broadcast", "cond_signal",    "cond_wait_begin",
	    "mutex_acquire",  "mutex_release",  "mutex_release_failed",
	    "rwlock_acquire", "rwlock_release", "thread_create"};
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		t[i] = start(work, &t[i]);
	for (int i = 0; i < THREADS; i++)
		join(t[i], &t[i]);
	CHECK(shared == THREADS * ROUNDS);
	join(start(leave, n), n);
	mutexes();
	rwlocks();
	conditions();
	for (int i = 0; i < KINDS; i++)
		printf("%s %lu\n", names[i], n[i]);
	return 0;
}
