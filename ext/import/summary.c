/*
** Counts what results holds after an import: for the caller, and one line per file and model in
** temp.import_summary.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/*
** Counting
*/

void import_count(import_pair *p, import_held held) {
  p->rows++;
  if (held.errored) return;
  p->answers++;
  p->verdicts += held.verdict;
  p->correct += held.verdict && held.value != 0;
  p->sum += held.value;
  if (held.verdict || held.ranged) return;
  if (!p->has_scores || held.value < p->least) p->least = held.value;
  if (!p->has_scores || held.value > p->most) p->most = held.value;
  p->has_scores = true;
}

void import_uncount(import_run *run) {
  for (size_t i = 0; i < import_map_count(run->stage->pairs); i++) {
    import_pair *p = import_map_entry(run->stage->pairs, i);
    *p = (import_pair){.graded = p->graded, .made = true, .index = p->index};
  }
}

bool import_count_names(import_run *run, import_done *done) {
  import_map *models = import_map_new(1), *tasks = import_map_new(1), *pairs = run->stage->pairs;
  bool ok = (models && tasks) || import_no_memory(run);
  for (size_t i = 0; ok && i < import_map_count(pairs); i++) {
    size_t length;
    const char *model = import_map_name(pairs, i, &length);
    size_t first = strlen(model);
    if (((const import_pair *)import_map_entry(pairs, i))->rows == 0) continue;
    ok = (import_map_at(models, model, first, true) &&
          import_map_at(tasks, model + first + 1, length - first - 1, true)) ||
         import_no_memory(run);
  }
  done->models = ok ? (sqlite3_int64)import_map_count(models) : 0;
  done->tasks = ok ? (sqlite3_int64)import_map_count(tasks) : 0;
  import_map_free(models);
  import_map_free(tasks);
  return ok;
}

/* A row: model, task, correct, score, error, score_lo. */
static bool recount_row(import_run *run, sqlite3_stmt *row) {
  import_buffer *name = &run->stage->pair_name;
  const char *model = (const char *)sqlite3_column_text(row, 0),
             *task = (const char *)sqlite3_column_text(row, 1);
  if (!model || !task) return true;
  name->length = 0;
  if (!import_append(run, name, model, (size_t)sqlite3_column_bytes(row, 0) + 1) ||
      !import_append(run, name, task, (size_t)sqlite3_column_bytes(row, 1)))
    return false;
  import_pair *p = import_map_at(run->stage->pairs, name->text, name->length, false);
  bool verdict = sqlite3_column_type(row, 2) != SQLITE_NULL,
       scored = sqlite3_column_type(row, 3) != SQLITE_NULL;
  import_held held = {.errored =
                          sqlite3_column_type(row, 4) != SQLITE_NULL || (!verdict && !scored),
                      .verdict = verdict,
                      .ranged = sqlite3_column_type(row, 5) != SQLITE_NULL,
                      .value = sqlite3_column_double(row, verdict ? 2 : 3)};
  if (p) import_count(p, held);
  return true;
}

bool import_recount(import_run *run, import_done *done) {
  sqlite3_stmt *row = NULL, *all = NULL;
  int rc = SQLITE_DONE;
  import_uncount(run);
  bool ok =
      import_prepare(run, &row,
                     "SELECT model, task, correct, score, error, score_lo FROM main.results") &&
      import_prepare(
          run, &all,
          "SELECT count(*), count(DISTINCT model), count(DISTINCT task), (SELECT count(*) FROM "
          "(SELECT DISTINCT task, item FROM main.results)) FROM main.results");
  while (ok && (rc = sqlite3_step(row)) == SQLITE_ROW) ok = recount_row(run, row);
  if (ok && rc == SQLITE_DONE) rc = sqlite3_step(all);
  if (ok && rc == SQLITE_ROW) {
    done->rows = sqlite3_column_int64(all, 0);
    done->models = sqlite3_column_int64(all, 1);
    done->tasks = sqlite3_column_int64(all, 2);
    done->questions = sqlite3_column_int64(all, 3);
  } else if (ok) {
    ok = import_db_failed(run);
  }
  sqlite3_finalize(row);
  sqlite3_finalize(all);
  return ok;
}

/*
** The list of an import for people
*/

typedef struct line {
  const import_file *file;
  const char *model, *task;
  const import_pair *pair;
} line;

static int compare_lines(const void *a, const void *b) {
  const line *x = a, *y = b;
  int by_file = (x->file->id > y->file->id) - (x->file->id < y->file->id);
  int by_model = by_file ? by_file : strcmp(x->model, y->model);
  return by_model ? by_model : strcmp(x->task, y->task);
}

/* Reports one file and model: the lines from `from` up to `to`. */
static bool add_line(import_run *run, sqlite3_stmt *add, const import_file *f, const line *from,
                     const line *to) {
  import_pair sum = {.least = INFINITY, .most = -INFINITY};
  for (const line *l = from; l < to; l++) {
    sum.rows += l->pair->rows;
    sum.answers += l->pair->answers;
    sum.verdicts += l->pair->verdicts;
    sum.correct += l->pair->correct;
    sum.sum += l->pair->sum;
    if (l->pair->has_scores) sum.least = fmin(sum.least, l->pair->least);
    if (l->pair->has_scores) sum.most = fmax(sum.most, l->pair->most);
  }
  if (from == to) sum.answers = sum.rows = f->rows;
  bool outside = from < to && (sum.least < 0 || sum.most > 1) && sum.least <= sum.most;
  char *tasks = to - from == 1 ? sqlite3_mprintf("%s", from->task)
                : from < to    ? sqlite3_mprintf("%d tasks", (int)(to - from))
                               : NULL;
  char *note =
      outside ? sqlite3_mprintf(
                    "%s%sscores from %!.6g to %!.6g: import again with their range, --lo and --hi",
                    f->note ? f->note : "", f->note ? "; " : "", sum.least, sum.most)
              : NULL;
  int rc = sqlite3_bind_text(add, 1, f->path, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 2, f->format ? f->format->name : NULL, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 3, from < to ? from->model : f->model, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 4, from < to ? tasks : f->task, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 5, f->metric, -1, SQLITE_STATIC) |
           sqlite3_bind_int64(add, 6, sum.answers) |
           (sum.verdicts && sum.verdicts == sum.answers ? sqlite3_bind_int64(add, 7, sum.correct)
                                                        : sqlite3_bind_null(add, 7)) |
           (from < to && sum.answers ? sqlite3_bind_double(add, 8, sum.sum / (double)sum.answers)
                                     : sqlite3_bind_null(add, 8)) |
           sqlite3_bind_int64(add, 9, sum.rows - sum.answers) |
           sqlite3_bind_text(add, 10, note ? note : f->note, -1, SQLITE_STATIC);
  bool ok =
      (rc == SQLITE_OK && sqlite3_step(add) == SQLITE_DONE && sqlite3_reset(add) == SQLITE_OK) ||
      import_db_failed(run);
  sqlite3_free(tasks);
  sqlite3_free(note);
  return ok;
}

bool import_summarize(import_run *run) {
  import_stage *s = run->stage;
  size_t count = import_map_count(s->asked), at = 0;
  line *lines = sqlite3_malloc64((count + 1) * sizeof *lines);
  sqlite3_stmt *add = NULL;
  bool ok = (lines || import_no_memory(run)) &&
            import_exec(run, "DROP TABLE IF EXISTS temp.import_summary; CREATE TEMP TABLE "
                             "import_summary(path TEXT, format TEXT, model TEXT, "
                             "task TEXT, metric TEXT, n INTEGER, correct INTEGER, mean REAL, "
                             "errored INTEGER, note TEXT)") &&
            import_prepare(run, &add,
                           "INSERT INTO temp.import_summary VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (size_t i = 0; ok && i < count; i++) {
    const void *asked[2];
    memcpy(asked, import_map_name(s->asked, i, NULL), sizeof asked);
    lines[i] = (line){.file = asked[0], .pair = asked[1]};
    lines[i].model = import_map_name(s->pairs, lines[i].pair->index, NULL);
    lines[i].task = lines[i].model + strlen(lines[i].model) + 1;
  }
  if (ok) qsort(lines, count, sizeof *lines, compare_lines);
  for (const import_file *f = run->files; ok && f; f = f->next) {
    size_t before = at;
    while (ok && !f->skipped && at < count && lines[at].file == f) {
      size_t to = at;
      while (to < count && lines[to].file == f && strcmp(lines[to].model, lines[at].model) == 0)
        to++;
      ok = add_line(run, add, f, lines + at, lines + to);
      at = to;
    }
    while (at < count && lines[at].file == f) at++;
    if (ok && (before == at || f->skipped) && (f->note || f->given || f->rows))
      ok = add_line(run, add, f, lines, lines);
  }
  sqlite3_finalize(add);
  sqlite3_free(lines);
  return ok;
}
