/*
** macro_ci(score, task [, level [, lo, hi]]): the mean of tasks' means over rows of scores.
**
** A key is a task with one of its scores, and counts how often that came: the bytes of the
** task, a byte for its type, then the score.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../stats/macro.h"
#include "function.h"

enum { SCORE_BYTES = sizeof(double), TAIL_BYTES = SCORE_BYTES + 1 };

/* Adds the row under its task and score; false when memory is short. */
static bool add_task_score(evalci_group *g, const evalci_key *task, double score, int times) {
  char few[64];
  bool text = task->type == SQLITE_TEXT || task->type == SQLITE_BLOB;
  const void *bytes = text                           ? task->bytes
                      : task->type == SQLITE_INTEGER ? (const void *)&task->integer
                                                     : (const void *)&task->real;
  size_t size = text ? task->size : 8, whole = size + TAIL_BYTES;
  char *buffer = whole <= sizeof few ? few : sqlite3_malloc64(whole);
  if (!buffer) return false;
  memcpy(buffer, bytes, size);
  buffer[size] = (char)task->type;
  memcpy(buffer + size + 1, &score, SCORE_BYTES);
  evalci_key key = {.type = SQLITE_BLOB, .bytes = buffer, .size = (unsigned)whole};
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (e) evalci_add_to_entry(&g->keys, e, (sqlite3_int64[]){1}, times);
  if (buffer != few) sqlite3_free(buffer);
  return e != NULL;
}

static bool add_to_tasks(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double score;
  evalci_key task;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  return evalci_read_score(call, argv[0], &g->options, &score) &&
         evalci_read_name(call, "task", argv[1], &task) && add_task_score(g, &task, score, times);
}

const evalci_rows evalci_scores_by_task = {{"score", "task"}, 1, add_to_tasks};

/* Compares tasks, ignoring scores. */
static int compare_tasks(const void *left, const void *right) {
  const evalci_entry *const *a = left, *const *b = right;
  if ((*a)->size != (*b)->size) return (*a)->size < (*b)->size ? -1 : 1;
  return memcmp((*a)->key.bytes, (*b)->key.bytes, (*a)->size - SCORE_BYTES);
}

static ev_status tasks_interval(const evalci_keys *keys, const evalci_entry **entries,
                                ev_task_score *scores, const ev_options *options, ev_host host,
                                ev_interval *ci) {
  size_t count = 0, task = 0;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(keys, e));) entries[count++] = e;
  qsort(entries, count, sizeof *entries, compare_tasks);
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && compare_tasks(&entries[i - 1], &entries[i]) != 0) task++;
    scores[i] = (ev_task_score){.times = (double)entries[i]->counts[0], .task = task};
    memcpy(&scores[i].score, entries[i]->key.bytes + entries[i]->size - SCORE_BYTES, SCORE_BYTES);
  }
  return ev_macro(scores, count, task + 1, options, host, ci);
}

static void answer_tasks(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  const evalci_keys *keys = &g->keys;
  size_t count = evalci_count_entries(keys);
  if (count == 0) return;
  const evalci_entry **entries = sqlite3_malloc64(count * sizeof *entries);
  ev_task_score *scores = sqlite3_malloc64(count * sizeof *scores);
  ev_interval ci = {NAN, NAN};
  ev_status status = EV_NO_MEMORY;
  if (entries && scores)
    status = tasks_interval(keys, entries, scores, &g->options, evalci_host_of(context), &ci);
  sqlite3_free(entries);
  sqlite3_free(scores);
  evalci_result_interval(context, f->name, status, ci);
}

const evalci_kind evalci_of_tasks = {.json = true, .answer = answer_tasks};
