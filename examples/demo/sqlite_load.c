/* SPDX-License-Identifier: MIT */
/*
 * sqlite_load.c - a marked program: a small shop on SQLite that does the work of a server with a
 * database. Creates tables, fills them in bulk, builds an index, then queries them by index and by
 * full scan from several threads while another thread writes.
 *
 * Each SQL statement is a span: its begin event has the SQL, its end event the number of
 * rows and the result. Each stage of the work is a span around them.
 *
 *   sqlite_load FILE [ORDERS [QUERIES]]
 *
 * Prints one line about the work, the same in each run, and the time to stderr.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>
#include <waymark/tracepoint.h>

#define CUSTOMERS 500
#define BATCH     1000 /* number of orders per transaction */
#define READERS   3

struct shop {
	const char *file;
	int orders, queries;
};

struct reader {
	pthread_t thread;
	const struct shop *shop;
	sqlite3 *db; /* the database connection; two readers share one and wait for each other */
	unsigned number;
	uint64_t rows;
	int64_t sum;
};

static uint64_t statements; /* number of statements that all threads have run */

static void die(const char *what, sqlite3 *db)
{
	fprintf(stderr, "sqlite_load: %s: %s\n", what, db ? sqlite3_errmsg(db) : strerror(errno));
	exit(1);
}

/* ------------------------------------------------------------------ *
 * Statements
 * ------------------------------------------------------------------ */

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		die(sql, db);
	return s;
}

/* Runs a statement to its end and adds its first column to *sum, which may be NULL. */
static uint64_t execute(sqlite3_stmt *s, int64_t *sum)
{
	uint64_t span = trace_span_begin(statement, (str, sql, sqlite3_sql(s)));
	uint64_t rows = 0;
	int result;

	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		rows++;
		if (sum)
			*sum += sqlite3_column_int64(s, 0);
	}
	if (result == SQLITE_DONE)
		result = sqlite3_reset(s);
	__atomic_fetch_add(&statements, 1, __ATOMIC_RELAXED);
	trace_span_end(statement, span, (i32, status, result), (u64, rows, rows));
	if (result != SQLITE_OK)
		die(sqlite3_sql(s), sqlite3_db_handle(s));
	return rows;
}

static void run(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = prepare(db, sql);

	(void)execute(s, NULL);
	sqlite3_finalize(s);
}

static sqlite3 *open_shop(const char *file)
{
	sqlite3 *db;

	if (sqlite3_open_v2(file, &db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
			    NULL) != SQLITE_OK)
		die(file, db);
	sqlite3_busy_timeout(db, 10000);
	run(db, "PRAGMA synchronous = OFF"); /* do not wait for the disk */
	return db;
}

/* A pseudo-random sequence, the same in every run. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* ------------------------------------------------------------------ *
 * The stages
 * ------------------------------------------------------------------ */

static void create(sqlite3 *db)
{
	static const char *const schema[] = {
	    "PRAGMA journal_mode = WAL",
	    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT)",
	    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER,"
	    " note TEXT)",
	    "CREATE TABLE visit (id INTEGER PRIMARY KEY, customer INTEGER, page TEXT)",
	};

	trace_span(stage, (str, name, "create"));
	for (size_t i = 0; i < sizeof(schema) / sizeof(schema[0]); i++)
		run(db, schema[i]);
}

static void fill(sqlite3 *db, const struct shop *shop)
{
	static const char *const cities[] = {"Aachen", "Bilbao", "Coimbra", "Dijon", "Espoo"};
	sqlite3_stmt *customer =
	    prepare(db, "INSERT INTO customer VALUES (?1, 'customer ' || ?1, ?2)");
	sqlite3_stmt *order =
	    prepare(db, "INSERT INTO orders VALUES (?1, ?2, ?3, 'parcel ' || hex(?3 * 7919))");
	uint32_t seed = 1;

	trace_span(stage, (str, name, "fill"));
	run(db, "BEGIN");
	for (int i = 1; i <= CUSTOMERS; i++) {
		sqlite3_bind_int(customer, 1, i);
		sqlite3_bind_text(customer, 2, cities[i % 5], -1, SQLITE_STATIC);
		(void)execute(customer, NULL);
	}
	for (int i = 1; i <= shop->orders; i++) {
		sqlite3_bind_int(order, 1, i);
		sqlite3_bind_int(order, 2, 1 + (int)(next_random(&seed) % CUSTOMERS));
		sqlite3_bind_int(order, 3, (int)(next_random(&seed) % 10000));
		(void)execute(order, NULL);
		if (i % BATCH == 0) {
			run(db, "COMMIT");
			run(db, "BEGIN");
		}
	}
	run(db, "COMMIT");
	sqlite3_finalize(customer);
	sqlite3_finalize(order);
}

static void index_orders(sqlite3 *db)
{
	trace_span(stage, (str, name, "index"));
	run(db, "CREATE INDEX orders_by_customer ON orders (customer)");
	run(db, "ANALYZE");
}

/* Queries by index; after every hundred queries, does a full scan and a join. */
static void *read_on(void *p)
{
	struct reader *r = p;
	sqlite3_stmt *by_index =
	    prepare(r->db, "SELECT amount FROM orders WHERE customer = ?1 ORDER BY amount");
	sqlite3_stmt *by_scan = prepare(r->db, "SELECT count(*) FROM orders WHERE note LIKE ?1");
	sqlite3_stmt *joined =
	    prepare(r->db, "SELECT sum(amount) FROM orders JOIN customer ON customer.id = customer"
			   " GROUP BY city ORDER BY 1 DESC");
	uint32_t seed = r->number + 10;

	trace_span(stage, (str, name, "read"), (u32, reader, r->number));
	for (int i = 0; i < r->shop->queries; i++) {
		char pattern[16];
		sqlite3_bind_int(by_index, 1, 1 + (int)(next_random(&seed) % CUSTOMERS));
		r->rows += execute(by_index, &r->sum);
		if (i % 100 == 99) {
			(void)snprintf(pattern, sizeof(pattern), "%%%02" PRIu32 "%%",
				       next_random(&seed) % 100);
			sqlite3_bind_text(by_scan, 1, pattern, -1, SQLITE_TRANSIENT);
			r->rows += execute(by_scan, &r->sum);
			r->rows += execute(joined, &r->sum);
		}
	}
	sqlite3_finalize(by_index);
	sqlite3_finalize(by_scan);
	sqlite3_finalize(joined);
	return NULL;
}

/* Writes small transactions on a connection of its own. */
static void *write_on(void *p)
{
	const struct shop *shop = p;
	sqlite3 *db = open_shop(shop->file);
	sqlite3_stmt *visit =
	    prepare(db, "INSERT INTO visit (customer, page) VALUES (?1, '/order/' || ?2)");
	sqlite3_stmt *raise = prepare(
	    db, "UPDATE customer SET name = name || '.' WHERE id = ?1 AND length(name) < 40");
	uint32_t seed = 5;

	trace_span(stage, (str, name, "write"));
	for (int i = 0; i < shop->queries; i++) {
		int customer = 1 + (int)(next_random(&seed) % CUSTOMERS);
		sqlite3_bind_int(visit, 1, customer);
		sqlite3_bind_int(visit, 2, i);
		(void)execute(visit, NULL);
		sqlite3_bind_int(raise, 1, customer);
		(void)execute(raise, NULL);
	}
	sqlite3_finalize(visit);
	sqlite3_finalize(raise);
	sqlite3_close(db);
	return NULL;
}

/* Runs the readers and the writer at the same time. */
static void serve(struct shop *shop, sqlite3 *db, struct reader *readers)
{
	pthread_t writer;
	sqlite3 *shared = open_shop(shop->file);
	int err;

	trace_span(stage, (str, name, "serve"));
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){.shop = shop, .db = i < 2 ? shared : db, .number = i};
		err = pthread_create(&readers[i].thread, NULL, read_on, &readers[i]);
		if (err) {
			errno = err;
			die("pthread_create", NULL);
		}
	}
	err = pthread_create(&writer, NULL, write_on, shop);
	if (err) {
		errno = err;
		die("pthread_create", NULL);
	}
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	pthread_join(writer, NULL);
	sqlite3_close(shared);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct shop shop = {.orders = argc > 2 ? atoi(argv[2]) : 6000,
			    .queries = argc > 3 ? atoi(argv[3]) : 500};
	struct reader readers[READERS] = {{0}};
	uint64_t rows = 0;
	int64_t sum = 0;
	double begin = seconds();
	sqlite3 *db;

	if (argc < 2 || shop.orders < 1 || shop.queries < 1) {
		fprintf(stderr, "usage: sqlite_load FILE [ORDERS [QUERIES]]\n");
		return 2;
	}
	shop.file = argv[1];
	db = open_shop(shop.file);
	create(db);
	fill(db, &shop);
	index_orders(db);
	serve(&shop, db, readers);
	for (unsigned i = 0; i < READERS; i++) {
		rows += readers[i].rows;
		sum += readers[i].sum;
	}
	if (sqlite3_close(db) != SQLITE_OK)
		die("close", db);
	printf("SQLite %s: %" PRIu64 " statements, %" PRIu64 " rows, sum %" PRId64 "\n",
	       sqlite3_libversion(), statements, rows, sum);
	fprintf(stderr, "seconds %.6f\n", seconds() - begin);
	return 0;
}
