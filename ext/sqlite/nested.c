/*
** Tasks, questions and attempts in SQL: nested_ci(y, task, item [, level [, prior]]) over rows of
** attempts, nested_ci_counts(k, n, task [, ...]) over one row per question, and nested_each and
** noise likewise.
**
** A key holds a task and a question, with counts k and n.  If questions have no names, the key
** holds a task with k and n, and its count is the number of such questions.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../stats/nested.h"
#include "function.h"

/* Adds counts under a task and a question; false when memory is short. */
static bool add_to_question(evalci_group *g, const evalci_key *task, const evalci_key *item,
                            const sqlite3_int64 *counts, int times) {
  evalci_entry *e = evalci_pair_entry(&g->keys, task, item);
  if (e) evalci_add_to_entry(&g->keys, e, counts, times);
  return e;
}

/* The task of an entry, or its question, as an entry without counts; its bytes stay where they
** are. */
static void part_of(const evalci_entry *e, bool question, evalci_entry *part) {
  evalci_key key = question ? evalci_pair_second(e) : evalci_pair_first(e);
  *part = (evalci_entry){.type = (unsigned)key.type & 7, .size = key.size};
  if (key.type == SQLITE_INTEGER)
    part->key.integer = key.integer;
  else if (key.type == SQLITE_FLOAT)
    part->key.real = key.real;
  else
    part->key.bytes = (char *)key.bytes;
}

static int compare_parts(const void *a, const void *b, bool question) {
  evalci_entry x, y;
  part_of(*(const evalci_entry *const *)a, question, &x);
  part_of(*(const evalci_entry *const *)b, question, &y);
  return evalci_compare_keys(&x, &y);
}

static int by_task(const void *a, const void *b) {
  return compare_parts(a, b, false);
}

static int by_question(const void *a, const void *b) {
  return compare_parts(a, b, true);
}

static bool add_task_attempt(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  int y = evalci_read_result(argv[0]);
  evalci_key task, item;
  if (y == EVALCI_BAD_RESULT) return evalci_fail_result(call, argv[0], false);
  if (y == EVALCI_NO_RESULT) return true;
  return evalci_read_name(call, "task", argv[1], &task) &&
         evalci_read_name(call, "item", argv[2], &item) &&
         add_to_question(g, &task, &item, (sqlite3_int64[]){y, 1}, times);
}

/* A question without attempts is skipped, as one with NULL counts is. */
static bool add_question(evalci_call *call, evalci_group *g, sqlite3_value **counts,
                         sqlite3_value *name, int times) {
  static const char *const names[] = {"k", "n"};
  double k_n[2];
  evalci_key task, item = {.type = SQLITE_BLOB, .bytes = k_n, .size = sizeof k_n};
  if (evalci_any_null(2, counts)) return true;
  if (!evalci_read_k_n(call, names, counts, k_n)) return false;
  return k_n[1] == 0 || (evalci_read_name(call, "task", name, &task) &&
                         add_to_question(g, &task, &item, (sqlite3_int64[]){1}, times));
}

static bool add_counts_first(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_question(call, g, argv, argv[2], times);
}

static bool add_task_first(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_question(call, g, argv + 1, argv[0], times);
}

const evalci_rows evalci_nested_attempts = {{"y", "task", "item"}, 2, add_task_attempt};
const evalci_rows evalci_nested_questions = {{"k", "n", "task"}, 1, add_counts_first};
const evalci_rows evalci_nested_labelled = {{"task", "k", "n"}, 1, add_task_first};

/*
** Questions by task
*/
typedef struct task_sums {
  const evalci_entry *first; /* of its questions */
  double k, n, items;
} task_sums;

typedef struct nested_suite {
  const evalci_entry **entries; /* owned: in the order of tasks' keys, which no model sees */
  ev_item *list;                /* owned */
  task_sums *tasks;             /* owned: in that order */
  ev_items items;
} nested_suite;

static void free_nested_suite(nested_suite *s) {
  sqlite3_free(s->entries);
  sqlite3_free(s->list);
  sqlite3_free(s->tasks);
}

/* The counts of a question that has a name, or of questions that are alike and have none. */
static ev_item item_of(const evalci_group *g, const evalci_entry *e) {
  double k_n[2];
  if (g->keys.width == 2) return (ev_item){(double)e->counts[0], (double)e->counts[1], 1, 0};
  memcpy(k_n, evalci_pair_second(e).bytes, sizeof k_n);
  return (ev_item){k_n[0], k_n[1], (double)e->counts[0], 0};
}

static void add_items(const evalci_group *g, nested_suite *s) {
  for (size_t i = 0; i < s->items.count; i++) {
    const evalci_entry *e = s->entries[i];
    ev_item item = item_of(g, e);
    if (i == 0 || by_task(&s->entries[i - 1], &e) != 0)
      s->tasks[s->items.tasks++] = (task_sums){.first = e};
    task_sums *task = &s->tasks[s->items.tasks - 1];
    item.task = s->items.tasks - 1;
    task->k += item.k * item.times;
    task->n += item.n * item.times;
    task->items += item.times;
    s->list[i] = item;
  }
}

/* Whether the names of tasks look like those of questions: every task has one question, and
** some question is in several tasks.  Changes the order of entries if so. */
static bool looks_exchanged(const evalci_group *g, nested_suite *s) {
  if (g->keys.width != 2 || s->items.tasks < s->items.count) return false;
  const evalci_entry **entries = s->entries;
  qsort(entries, s->items.count, sizeof *entries, by_question);
  for (size_t i = 1; i < s->items.count; i++)
    if (by_question(&entries[i - 1], &entries[i]) == 0) return true;
  return false;
}

/* Leaves a message, and false, where the suite is not what it should be. */
static bool check_suite(evalci_call *call, const evalci_group *g, nested_suite *s) {
  if (looks_exchanged(g, s))
    return evalci_fail(call,
                       "task and item look exchanged: every task has one item, and an item is in "
                       "several tasks; call it as %s(y, task, item)",
                       call->name);
  for (size_t i = 0; i < s->items.tasks; i++)
    if (s->tasks[i].n > 0x1p53)
      return evalci_fail(call, "n of one task must add up to at most 2^53, got %g", s->tasks[i].n);
  return true;
}

/* Reads the group into a suite, to be freed; false after an error, or without data. */
static bool ready_suite(sqlite3_context *context, const evalci_group *g, nested_suite *s) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_call call = {f->name, NULL};
  size_t count = evalci_count_entries(&g->keys);
  *s = (nested_suite){.items = {.count = count}};
  if (count == 0) return false;
  s->entries = sqlite3_malloc64(count * sizeof *s->entries);
  s->items.list = s->list = sqlite3_malloc64(count * sizeof *s->list);
  s->tasks = sqlite3_malloc64(count * sizeof *s->tasks);
  bool ok = s->entries && s->list && s->tasks;
  if (ok) {
    size_t i = 0;
    for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));) s->entries[i++] = e;
    qsort(s->entries, count, sizeof *s->entries, by_task);
    add_items(g, s);
    ok = check_suite(&call, g, s);
  }
  if (!ok) evalci_report(context, &call);
  return ok;
}

/*
** Answers
*/
static void answer_nested(sqlite3_context *context, const evalci_group *g) {
  nested_suite s;
  ev_interval ci = {NAN, NAN};
  if (ready_suite(context, g, &s)) {
    ev_status status = ev_nested(&s.items, &g->options, evalci_host_of(context), &ci);
    evalci_result(context, status, ci);
  }
  free_nested_suite(&s);
}

static void append_share(sqlite3_str *out, const char *name, const ev_each *share) {
  char number[EVALCI_NUMBER_SIZE];
  number[evalci_write_number(share->mean, number)] = 0;
  sqlite3_str_appendf(out, "%s\"%s\":{\"share\":%s", sqlite3_str_length(out) > 1 ? "," : "", name,
                      number);
  evalci_append_member(out, "lo", share->lo);
  evalci_append_member(out, "hi", share->hi);
  sqlite3_str_appendchar(out, 1, '}');
}

static void result_noise(sqlite3_context *context, const ev_noise *noise) {
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  sqlite3_str_appendchar(out, 1, '{');
  append_share(out, "tasks", &noise->tasks);
  if (noise->repeated) {
    append_share(out, "questions", &noise->questions);
    append_share(out, "reruns", &noise->reruns);
  } else {
    sqlite3_str_appendall(out, ",\"questions\":null,\"reruns\":null");
    append_share(out, "within", &noise->within);
  }
  sqlite3_str_appendchar(out, 1, '}');
  evalci_result_json(context, out);
}

static void answer_noise(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  nested_suite s;
  ev_noise noise;
  if (ready_suite(context, g, &s)) {
    ev_status status = ev_nested_noise(&s.items, &g->options, evalci_host_of(context), &noise);
    if (evalci_check_status(context, f->name, status)) result_noise(context, &noise);
  }
  free_nested_suite(&s);
}

static void append_nested_task(sqlite3_str *out, const task_sums *task, const ev_each *each) {
  evalci_entry name;
  part_of(task->first, false, &name);
  sqlite3_str_appendall(out, sqlite3_str_length(out) > 1 ? ",{\"task\":" : "{\"task\":");
  evalci_append_key(out, &name);
  sqlite3_str_appendf(out, ",\"k\":%.0f,\"n\":%.0f,\"items\":%.0f", task->k, task->n, task->items);
  evalci_append_member(out, "mean", each->mean);
  evalci_append_member(out, "lo", each->lo);
  evalci_append_member(out, "hi", each->hi);
  sqlite3_str_appendchar(out, 1, '}');
}

static void result_tasks(sqlite3_context *context, const nested_suite *s, const ev_each *each) {
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  sqlite3_str_appendchar(out, 1, '[');
  for (size_t i = 0; i < s->items.tasks; i++) append_nested_task(out, &s->tasks[i], &each[i]);
  sqlite3_str_appendchar(out, 1, ']');
  evalci_result_json(context, out);
}

static void answer_nested_each(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  nested_suite s;
  if (ready_suite(context, g, &s)) {
    ev_each *each = sqlite3_malloc64(s.items.tasks * sizeof *each);
    ev_status status = EV_NO_MEMORY;
    if (each) status = ev_nested_each(&s.items, &g->options, evalci_host_of(context), each);
    if (evalci_check_status(context, f->name, status)) result_tasks(context, &s, each);
    sqlite3_free(each);
  }
  free_nested_suite(&s);
}

const evalci_kind evalci_nested = {.json = true, .answer = answer_nested};
const evalci_kind evalci_nested_each = {.json = true, .answer = answer_nested_each};
const evalci_kind evalci_nested_noise = {.json = true, .answer = answer_noise};
