/*
** Lets the 1st, the 2nd, ... allocation of every call of calls.h fail, alone and together with all
** later ones, until the call succeeds.  There must be no crash, no leak and no wrong answer, and
** the connection must work afterwards (contract 13).  Of the allocations that one place makes in a
** loop, with the same callers, the first REPEATS are refused.
**
** Allocations are SQLite's, through its configurable allocator with lookaside
** memory off, and those of ext/stats and GSL, through the linker's --wrap.  The
** calls run in a UTF-8 and in a UTF-16 database: text is converted in the latter,
** which allocates.
**
**     oom [MICROSECONDS]
**
** With an argument, calls that cost more by the catalogue are left out.
*/
#include <execinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "../../ext/evalci.h"
#include "../calls.h"
#include "../check.h"

/*
** The faulty allocator
*/
enum { REPEATS = 4, DEEP = 40, MOST_ALLOCATIONS = 100000, PLACES = 1 << 18 };

/* For each allocation of a call, how many from the same place came before it. */
static struct {
  unsigned char before[MOST_ALLOCATIONS]; /* at most REPEATS */
  struct place {
    uint64_t callers;
    unsigned char count;
  } places[PLACES]; /* a hash table */
} record;

static struct {
  bool armed, forever, recording;
  long at, count; /* the allocation that is to fail, and how many there were */
  long failed;    /* since it was armed */
  long live;      /* of ext/stats and GSL */
} faults;

/* The addresses of an allocation's callers tell its place. */
static void record_place(long number) {
  void *frames[DEEP];
  uint64_t callers = 1;
  for (int i = backtrace(frames, DEEP); i-- > 0;)
    callers = (callers ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
  size_t at = callers >> 46;
  while (record.places[at].count > 0 && record.places[at].callers != callers)
    at = (at + 1) % PLACES;
  struct place *place = &record.places[at];
  place->callers = callers;
  if (number < MOST_ALLOCATIONS) record.before[number] = place->count;
  if (place->count < REPEATS) place->count++;
}

static bool refused(void) {
  if (!faults.armed) return false;
  faults.count++;
  if (faults.recording) record_place(faults.count);
  if (faults.count != faults.at && !(faults.forever && faults.count > faults.at)) return false;
  faults.failed++;
  return true;
}

static void arm(long at, bool forever) {
  faults.at = at;
  faults.forever = forever;
  faults.count = faults.failed = 0;
  faults.armed = true;
}

static sqlite3_mem_methods real;

static void *faulty_malloc(int size) {
  return refused() ? NULL : real.xMalloc(size);
}

static void *faulty_realloc(void *memory, int size) {
  return refused() ? NULL : real.xRealloc(memory, size);
}

/* The names that --wrap makes of malloc and so on. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static void *counted(void *memory) {
  if (memory) faults.live++;
  return memory;
}

void *__wrap_malloc(size_t size) {
  return refused() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return refused() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (refused()) return NULL;
  void *moved = __real_realloc(memory, size);
  return memory ? moved : counted(moved);
}

void __wrap_free(void *memory) {
  if (memory) faults.live--;
  __real_free(memory);
}

/*
** The tests
*/
static catalogue *listed;
static long points; /* faults made */

static void expect(bool ok, const char *what, const char *sql, const char *got) {
  if (ok) {
    passed++;
    return;
  }
  failed++;
  faults.armed = false;
  printf("FAILED allocation %ld%s: %s: %s\n  %s\n", faults.at, faults.forever ? " and after" : "",
         what, got, sql);
}

static sqlite3 *open_plain(void) {
  sqlite3 *db;
  if (sqlite3_open(":memory:", &db) == SQLITE_OK) return db;
  fprintf(stderr, "oom: %s\n", sqlite3_errmsg(db));
  exit(2);
}

static sqlite3 *open_with_table(const char *encoding) {
  sqlite3 *db = open_plain();
  char *pragma = sqlite3_mprintf("PRAGMA encoding = '%q'", encoding), *message = NULL;
  if (!pragma || sqlite3_exec(db, pragma, NULL, NULL, &message) != SQLITE_OK ||
      sqlite3_evalci_init(db, NULL, NULL) != SQLITE_OK ||
      sqlite3_exec(db, listed->table, NULL, NULL, &message) != SQLITE_OK) {
    fprintf(stderr, "oom: %s\n", message ? message : sqlite3_errmsg(db));
    exit(2);
  }
  sqlite3_free(pragma);
  return db;
}

/* Checks that the connection still gives the right answer. */
static void expect_works(sqlite3 *db, const char *sql) {
  static const char probe[] = "SELECT wilson_ci_counts(18, 20), clustered_clt_ci(i % 2, i) FROM "
                              "(SELECT 1 AS i UNION ALL SELECT 2)";
  static char wanted[ANSWER], got[ANSWER];
  if (!wanted[0]) {
    sqlite3 *fresh = open_with_table("UTF-8");
    calls_answer(fresh, probe, wanted);
    sqlite3_close(fresh);
  }
  int rc = calls_answer(db, probe, got);
  expect(rc == SQLITE_DONE && strcmp(got, wanted) == 0, "then the connection fails", sql, got);
}

/* Runs a call that allocates as the ones after it will. */
static void record_places(sqlite3 *db, const char *sql) {
  static char unused[ANSWER];
  memset(&record, 0, sizeof record);
  arm(0, false);
  faults.recording = true;
  calls_answer(db, sql, unused);
  faults.armed = faults.recording = false;
}

static void fail_each(sqlite3 *db, const char *sql, bool forever) {
  static char wanted[ANSWER], got[ANSWER];
  int usual = calls_answer(db, sql, wanted), bare = 0;
  record_places(db, sql);
  for (long at = 1; at < MOST_ALLOCATIONS; at++) {
    if (record.before[at] == REPEATS) continue;
    arm(at, forever);
    int rc = calls_answer(db, sql, got);
    faults.armed = false;
    if (faults.failed == 0) {
      expect(rc == usual && strcmp(got, wanted) == 0, "no fault, and another answer", sql, got);
      return;
    }
    points++;
    /* A statement that fails copies the text of its error.  If memory for that copy is refused,
    ** SQLite keeps only the code: sqlite3VdbeTransferError(). */
    bool copied = rc == SQLITE_ERROR && strcmp(got, "SQL logic error|") == 0 && bare++ == 0;
    expect(rc == SQLITE_NOMEM || (rc == usual && (copied || strcmp(got, wanted) == 0)), "wrong",
           sql, got);
    expect_works(db, sql);
  }
  expect(false, "never gets through", sql, "");
}

/* An allocation that fails alone is the harder case, because a computation may then go on without
** what is missing.  In the second encoding only this case is tried. */
static void fail_calls(const char *encoding, int ways) {
  for (int i = 0; i < call_count; i++)
    for (int forever = 0; forever < ways; forever++) {
      sqlite3_int64 before = sqlite3_memory_used();
      long live = faults.live;
      sqlite3 *db = open_with_table(encoding);
      fail_each(db, calls[i], forever);
      expect(sqlite3_close(db) == SQLITE_OK, "cannot close", calls[i], encoding);
      expect(sqlite3_memory_used() == before, "SQLite's memory leaks", calls[i], encoding);
      expect(faults.live == live, "memory leaks", calls[i], encoding);
    }
}

/* The number of functions. */
static int count_functions(sqlite3 *db) {
  static const char sql[] = "SELECT count(DISTINCT name) FROM pragma_function_list";
  sqlite3_stmt *statement = NULL;
  int count = 0;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    count = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return count;
}

/* After a registration that failed, the connection can be closed, and evalci can be registered
** again. */
static void fail_registration(bool forever) {
  sqlite3 *whole = open_with_table("UTF-8");
  int all = count_functions(whole);
  sqlite3_close(whole);
  for (long at = 1;; at++) {
    sqlite3_int64 before = sqlite3_memory_used();
    sqlite3 *db = open_plain();
    char *error = NULL;
    arm(at, forever);
    int rc = sqlite3_evalci_init(db, &error, NULL);
    faults.armed = false;
    sqlite3_free(error);
    expect(rc == SQLITE_OK || (rc == SQLITE_NOMEM && faults.failed), "wrong code", "registration",
           sqlite3_errstr(rc));
    if (rc == SQLITE_OK)
      expect(count_functions(db) == all, "a function is missing", "registration", "");
    if (at % 2 || rc == SQLITE_OK) {
      rc = sqlite3_evalci_init(db, NULL, NULL);
      expect(rc == SQLITE_OK, "a second time", "registration", sqlite3_errstr(rc));
      expect_works(db, "registration");
    }
    sqlite3_close(db);
    expect(sqlite3_memory_used() == before, "SQLite's memory leaks", "registration", "");
    if (faults.failed == 0) return;
    points++;
  }
}

int main(int argc, char **argv) {
  sqlite3_mem_methods faulty;
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
  faulty = real;
  faulty.xMalloc = faulty_malloc;
  faulty.xRealloc = faulty_realloc;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty) != SQLITE_OK ||
      sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK) {
    fprintf(stderr, "oom: SQLite does not take another allocator\n");
    return 2;
  }
  listed = catalogue_read();
  calls_make(listed, argc > 1 ? atof(argv[1]) : HUGE_VAL);
  fail_registration(false);
  fail_registration(true);
  fail_calls("UTF-8", 2);
  fail_calls("UTF-16le", 1);
  calls_free();
  catalogue_free(listed);
  printf("%ld allocations failed\n", points);
  return check_summary();
}
