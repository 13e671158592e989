/*
** What the functions of one connection share: the posterior of the pairs that were asked
** about last, so that paired_diff_ci and paired_prob_better of the same counts, in a row or
** a group, cost one.
**
** Each connection has its own copies of these functions' rows, which share the memo; when SQLite
** releases the last copy, the memo is freed.  SQLite runs one function of a connection at a time.
*/
#include "../stats/paired.h"
#include "function.h"

struct evalci_shared {
  int references;
  ev_paired_memo memo;
};

/* A row of the table, with what it shares. */
typedef struct shared_row {
  evalci_function row;
  evalci_shared *shared;
} shared_row;

evalci_shared *evalci_share(void) {
  evalci_shared *shared = sqlite3_malloc(sizeof *shared);
  if (shared) *shared = (evalci_shared){.references = 1};
  return shared;
}

void evalci_unshare(evalci_shared *shared) {
  if (!shared || --shared->references > 0) return;
  ev_paired_forget(&shared->memo);
  sqlite3_free(shared);
}

void *evalci_shared_row(evalci_shared *shared, const evalci_function *f) {
  shared_row *copy = sqlite3_malloc(sizeof *copy);
  if (!copy) return NULL;
  *copy = (shared_row){*f, shared};
  copy->row.memo = &shared->memo;
  shared->references++;
  return copy;
}

void evalci_free_row(void *row) {
  shared_row *copy = row;
  evalci_unshare(copy->shared);
  sqlite3_free(copy);
}
