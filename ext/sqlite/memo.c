/*
** What the functions of one connection share: the posterior of the pairs that were asked
** about last, so that paired_diff_ci and paired_prob_better of the same counts, in a row or
** a group, cost one.
**
** A connection gets rows of its own for them, whose layout holds the memo; the last one
** that SQLite lets go of frees it.  SQLite runs one function of a connection at a time.
*/
#include "../stats/paired.h"
#include "function.h"

struct evalci_shared {
  int references;
  evalci_layout layout;
  ev_paired_memo memo;
};

/* A row of the table, and whom it shares with. */
typedef struct shared_row {
  union {
    evalci_method method;
    evalci_interval_method interval;
    evalci_probability_method probability;
  } row;
  evalci_shared *shared;
} shared_row;

evalci_shared *evalci_share(const evalci_layout *layout) {
  evalci_shared *shared = sqlite3_malloc(sizeof *shared);
  if (!shared) return NULL;
  *shared = (evalci_shared){.references = 1, .layout = *layout};
  shared->layout.memo = &shared->memo;
  return shared;
}

void evalci_unshare(evalci_shared *shared) {
  if (!shared || --shared->references > 0) return;
  ev_paired_forget(&shared->memo);
  sqlite3_free(shared);
}

void *evalci_shared_row(evalci_shared *shared, const evalci_function *f) {
  bool interval = f->kind == &evalci_interval_of_rows || f->kind == &evalci_interval_of_counts;
  shared_row *copy = sqlite3_malloc(sizeof *copy);
  if (!copy) return NULL;
  if (interval)
    copy->row.interval = *(const evalci_interval_method *)f;
  else
    copy->row.probability = *(const evalci_probability_method *)f;
  copy->row.method.layout = &shared->layout;
  copy->shared = shared;
  shared->references++;
  return copy;
}

void evalci_free_row(void *row) {
  shared_row *copy = row;
  evalci_unshare(copy->shared);
  sqlite3_free(copy);
}
