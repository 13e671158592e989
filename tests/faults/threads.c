/*
** Eight connections on eight threads run every call of calls.h at once, for the given number of
** seconds, and must give the same digits as one thread (contract 5).  Built with ThreadSanitizer,
** which checks evalci's own code; of SQLite and GSL, which Debian built, it sees only the locks.
** Before that, one thread runs all calls, including those with the deepest recursion, on a stack of
** its own and reports how much of it was used.
**
**     threads SECONDS
*/
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "../../ext/evalci.h"
#include "../calls.h"
#include "../check.h"

enum { THREADS = 8 };

static catalogue *listed;
static char wanted[MOST_CALLS][ANSWER];

typedef struct worker {
  pthread_t thread;
  int number;
  time_t end;
  long right, wrong;
} worker;

static sqlite3 *open_with_table(void) {
  sqlite3 *db;
  char *message = NULL;
  if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
      sqlite3_evalci_init(db, NULL, NULL) == SQLITE_OK &&
      sqlite3_exec(db, listed->table, NULL, NULL, &message) == SQLITE_OK)
    return db;
  fprintf(stderr, "threads: %s\n", message ? message : sqlite3_errmsg(db));
  exit(2);
}

/* Each thread begins with another call, so that different functions run at the same time, and opens
** a new connection in every round, so that registrations run beside them. */
static void *work(void *context) {
  worker *w = context;
  char *got = malloc(ANSWER);
  if (!got) exit(2);
  do {
    sqlite3 *db = open_with_table();
    for (int i = 0; i < call_count && (i == 0 || time(NULL) < w->end); i++) {
      int which = (i + w->number * call_count / THREADS) % call_count;
      calls_answer(db, calls[which], got);
      bool same = strcmp(got, wanted[which]) == 0;
      w->right += same;
      w->wrong += !same;
      if (!same)
        printf("FAILED %s\n  alone:   %s\n  at once: %s\n", calls[which], wanted[which], got);
    }
    sqlite3_close(db);
  } while (time(NULL) < w->end);
  free(got);
  return NULL;
}

/*
** Stack: some hosts run queries on threads with 256 kB, of which half is left to the host.
*/
enum { STACK = 1 << 20, STACK_ALLOWED = 128 << 10, UNUSED = 0xA5 };

static const char *const deep[] = {
    "SELECT paired_diff_ci_counts(0, 1, 0, 0)",
    "SELECT paired_prob_better_counts(3, 2, 1, 0)",
    "SELECT diff_ci_counts(0, 1000000000000000, 1, 1)",
    "SELECT odds_ratio_ci_counts(0, 1000000000000000, 1, 1)",
    "SELECT fisher_or_ci_counts(300000000000, 1000000000000, 200000000000, 1000000000000)",
};

typedef struct depth {
  unsigned char *stack;
  size_t used;
} depth;

/* The stack grows downward: its use ends at the first byte that has changed. */
static void *go_deep(void *context) {
  depth *d = context;
  unsigned char top = 0, *lowest = d->stack, *begin = &top;
  char *got = malloc(ANSWER);
  if (!got) exit(2);
  sqlite3 *db = open_with_table();
  for (size_t i = 0; i < sizeof deep / sizeof *deep; i++)
    check(calls_answer(db, deep[i], got) == SQLITE_DONE, deep[i], 0, 0);
  for (int i = 0; i < call_count; i++) calls_answer(db, calls[i], got);
  sqlite3_close(db);
  free(got);
  while (*lowest == UNUSED) lowest++;
  d->used = (size_t)(begin - lowest);
  return NULL;
}

static void a_small_stack_is_enough(void) {
  depth d = {aligned_alloc(1 << 16, STACK), 0};
  pthread_attr_t attributes;
  pthread_t thread;
  if (!d.stack) exit(2);
  memset(d.stack, UNUSED, STACK);
  if (pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, d.stack, STACK) ||
      pthread_create(&thread, &attributes, go_deep, &d))
    exit(2);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  printf("%zu kB of stack used\n", d.used >> 10);
  check(d.used <= STACK_ALLOWED, "stack used", (double)d.used, STACK_ALLOWED);
  free(d.stack);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: threads SECONDS\n");
    return 2;
  }
  listed = catalogue_read();
  calls_make(listed, HUGE_VAL);
  sqlite3 *db = open_with_table();
  check(sqlite3_threadsafe() != 0, "SQLite is built for threads", sqlite3_threadsafe(), 1);
  for (int i = 0; i < call_count; i++) calls_answer(db, calls[i], wanted[i]);
  sqlite3_close(db);
  a_small_stack_is_enough();
  worker workers[THREADS] = {0};
  for (int i = 0; i < THREADS; i++) {
    workers[i].number = i;
    workers[i].end = time(NULL) + atoi(argv[1]);
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) exit(2);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    passed += (int)workers[i].right;
    failed += (int)workers[i].wrong;
  }
  calls_free();
  catalogue_free(listed);
  return check_summary();
}
