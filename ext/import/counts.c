/*
** Counts, where there are no answers: a table with columns model, k (right answers), n (all)
** and perhaps task.
**
** They go to a table counts, whose key is the model and the task.
*/
#include <string.h>

#include "../sqlite/roles.h"
#include "inside.h"

enum { MODEL, TASK, K, N, COLUMNS };
static const char *const names[COLUMNS] = {"model", "task", "k", "n"};
static const int roles[COLUMNS] = {EVALCI_MODEL, EVALCI_TASK, EVALCI_K, EVALCI_N};

static int suits(const import_run *run, int role, const char *name, size_t length) {
  const char *given = role == MODEL  ? run->choices->columns[IMPORT_MODEL]
                      : role == TASK ? run->choices->columns[IMPORT_TASK]
                                     : NULL;
  if (given) return import_is_name(name, length, given) ? 4 : 0;
  if (import_is_name(name, length, names[role])) return 3;
  return import_suits_alias(name, length, roles[role]);
}

static bool enough(const import_run *run, const bool *there) {
  return (there[MODEL] || run->choices->model_name) && there[K] && there[N];
}

static bool check(import_run *run, const import_file *file, const bool *there,
                  const char *columns) {
  return enough(run, there) ||
         import_fail(run, file,
                     "counts have columns model, k (right answers) and n (all); there are: %s",
                     columns);
}

/* Reads a count, as a number or text; -1 if it is not one. */
static sqlite3_int64 count_of(import_value v) {
  sqlite3_int64 n = 0;
  if (v.type == IMPORT_INTEGER) return v.integer;
  if (v.type != IMPORT_TEXT || v.length == 0 || v.length > 15) return -1;
  for (size_t i = 0; i < v.length; i++) {
    if (v.text[i] < '0' || v.text[i] > '9') return -1;
    n = 10 * n + (v.text[i] - '0');
  }
  return n;
}

static import_value name_of(import_value v, const char *chosen, const char *otherwise) {
  const char *text = chosen ? chosen : otherwise;
  if (!chosen && v.type != IMPORT_NOTHING && (v.type != IMPORT_TEXT || v.length > 0)) return v;
  return (import_value){
      .type = text ? IMPORT_TEXT : IMPORT_NOTHING, .text = text, .length = text ? strlen(text) : 0};
}

static int shown_length(import_value v) {
  return v.length > 60 ? 60 : (int)v.length;
}

static bool take(import_run *run, import_file *file, const import_answer *row) {
  const import_choices *c = run->choices;
  import_value values[] = {name_of(row->of[MODEL], c->model_name, NULL),
                           name_of(row->of[TASK], c->task_name, file->stem),
                           {.type = IMPORT_INTEGER, .integer = count_of(row->of[K])},
                           {.type = IMPORT_INTEGER, .integer = count_of(row->of[N])}};
  if (values[0].type == IMPORT_NOTHING)
    return import_refuse_answer(run, file, row, "model is blank");
  if (values[2].integer < 0 || values[3].integer < values[2].integer) {
    char k[40], n[40], place[60];
    import_value given_k = import_as_text(row->of[K], k), given_n = import_as_text(row->of[N], n);
    return import_refuse(run, file, import_place_of(file, row, place),
                         "k and n must be whole numbers, k at most n, got k = '%.*s' and "
                         "n = '%.*s'",
                         shown_length(given_k), given_k.text ? given_k.text : "",
                         shown_length(given_n), given_n.text ? given_n.text : "");
  }
  return import_direct_add(run, file, values, COLUMNS, row->kept);
}

static const import_shape shape = {.table = "counts",
                                   .count = COLUMNS,
                                   .names = names,
                                   .suits = suits,
                                   .enough = enough,
                                   .check = check,
                                   .take = take};

static bool knows(import_run *run, const import_file *file) {
  return import_knows_table(run, file, &shape);
}

static bool read(import_run *run, import_file *file) {
  return import_direct_begin(run, file, "counts",
                             "model TEXT NOT NULL, task TEXT NOT NULL, k INTEGER NOT NULL, "
                             "n INTEGER NOT NULL, PRIMARY KEY (model, task), "
                             "CHECK (typeof(k) = 'integer' AND typeof(n) = 'integer'), "
                             "CHECK (k BETWEEN 0 AND n)",
                             "model, task, k, n") &&
         import_read_table(run, file, &shape);
}

const import_format import_counts = {
    .name = "counts",
    .reads = "counts of right answers, in CSV, JSON or a database",
    .recognised_by = "columns model, k and n (correct and total will do), and no item",
    .becomes = "a table counts, a row per model and task",
    .knows = knows,
    .read = read};
