/*
** After the last row.
**
** 1. Put models and tasks in the order of their names.
** 2. Find the tasks of which a score, of any model, is outside the range.
** 3. Find the questions that every model answered.
** 4. A question that is graded, or that some model answered more than once, leaves the
**    bits and becomes a row of cells, one per model.
*/
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* A name to be sorted, and its number. */
typedef struct sorted_name {
  board_name name;
  uint32_t number;
} sorted_name;

static int by_name(const void *a, const void *b) {
  return board_compare_names(((const sorted_name *)a)->name, ((const sorted_name *)b)->name);
}

/* Fills the number at each position, and the position of each number. */
static bool sort_names(const board_names *names, uint32_t *order, uint32_t *place) {
  sorted_name *sorted = malloc((names->count + 1) * sizeof *sorted);
  if (!sorted) return false;
  for (size_t i = 0; i < names->count; i++)
    sorted[i] = (sorted_name){board_name_at(names, i), (uint32_t)i};
  qsort(sorted, names->count, sizeof *sorted, by_name);
  for (uint32_t i = 0; i < names->count; i++) {
    order[i] = sorted[i].number;
    place[sorted[i].number] = i;
  }
  free(sorted);
  return true;
}

/* Allocates words for all questions and tallies for all tasks of every model. */
static bool level_models(board *b) {
  b->words = (b->questions.count + 63) / 64;
  for (size_t m = 0; m < b->models.count; m++) {
    board_model *x = &b->model[m];
    if (!board_grow(&x->words, &x->words_room, b->words + 1, sizeof *x->words) ||
        !board_grow(&x->tasks, &x->tasks_room, b->tasks.count + 1, sizeof *x->tasks))
      return false;
  }
  return true;
}

static bool answers_any(const board *b, size_t model) {
  for (size_t t = 0; t < b->tasks.count; t++)
    if (b->model[model].tasks[t].n > 0) return true;
  return false;
}

static void find_common(board *b) {
  memset(b->common, 0xff, b->words * sizeof *b->common);
  for (size_t m = 0; m < b->models.count; m++) {
    if (!answers_any(b, m)) continue;
    b->answering++;
    for (size_t w = 0; w < b->words; w++) b->common[w] &= b->model[m].words[w].known;
  }
  if (b->answering == 0) memset(b->common, 0, b->words * sizeof *b->common);
  for (size_t w = 0; w < b->words; w++) b->common_count += board_popcount(b->common[w]);
}

/* Sorts questions by task: a counting sort, which is stable. */
static void group_by_task(board *b) {
  size_t tasks = b->tasks.count, questions = b->questions.count;
  memset(b->task_begin, 0, (tasks + 2) * sizeof *b->task_begin);
  for (size_t q = 0; q < questions; q++) b->task_begin[board_task_of(b, q) + 2]++;
  for (size_t t = 2; t < tasks + 2; t++) b->task_begin[t] += b->task_begin[t - 1];
  for (size_t q = 0; q < questions; q++)
    b->by_task[b->task_begin[board_task_of(b, q) + 1]++] = (uint32_t)q;
}

static bool has_rows(const board *b) {
  bool any = b->repeated;
  for (size_t t = 0; t < b->tasks.count; t++) any |= b->task[t].graded;
  return any;
}

static double share_of_score(const board_task *task, double score) {
  return (score - task->lo) / (task->hi - task->lo);
}

/* A task has no accuracy, for any model, if one score is outside its range. */
static void find_ranges(board *b) {
  for (size_t t = 0; t < b->tasks.count; t++) {
    board_task *task = &b->task[t];
    task->least = task->most = NAN;
    if (task->declared) continue;
    task->lo = b->settings.ranged ? b->settings.lo : 0;
    task->hi = b->settings.ranged ? b->settings.hi : 1;
  }
  for (size_t i = 0; i < b->extra_count; i++) {
    const board_extra *extra = &b->extras[i];
    board_task *task = &b->task[board_task_of(b, extra->question)];
    if (!task->graded || !extra->scored) continue;
    task->least = fmin(task->least, extra->score);
    task->most = fmax(task->most, extra->score);
    double share = share_of_score(task, extra->score); /* NAN if the range is none, too */
    task->outside |= !(share >= 0 && share <= 1);
  }
}

bool board_out_of_range(const board *b, size_t *task, double *lo, double *hi) {
  for (size_t i = 0; i < b->tasks.count; i++) {
    *task = b->task_order[i];
    *lo = b->task[*task].least;
    *hi = b->task[*task].most;
    if (b->task[*task].outside) return true;
  }
  return false;
}

bool board_others_graded(const board *b, size_t task) {
  for (size_t t = 0; t < b->tasks.count; t++) {
    const board_task *other = &b->task[t];
    if (t != task && other->graded && !other->declared && !other->outside) return true;
  }
  return false;
}

/* Finds the questions that are compared one by one. */
static bool number_rows(board *b) {
  size_t questions = b->questions.count;
  b->row_of = calloc(questions + 1, sizeof *b->row_of);
  if (!b->row_of) return false;
  for (size_t i = 0; i < b->extra_count; i++)
    if (!b->extras[i].first) b->row_of[b->extras[i].question] = 1;
  for (size_t q = 0; q < questions; q++)
    if (b->row_of[q] || b->task[board_task_of(b, q)].graded)
      b->row_of[q] = (uint32_t)++b->row_count;
  b->rows = malloc((b->row_count + 1) * sizeof *b->rows);
  if (!b->rows) return false;
  for (uint32_t q = 0; q < questions; q++)
    if (b->row_of[q]) b->rows[b->row_of[q] - 1] = q;
  return true;
}

/* Moves the bits of these questions into cells. */
static void move_bits(board *b) {
  for (size_t m = 0; m < b->models.count; m++) {
    board_cell *cells = board_cells_of(b, m);
    for (size_t r = 0; r < b->row_count; r++) {
      board_word *w = &b->model[m].words[b->rows[r] >> 6];
      uint64_t bit = (uint64_t)1 << (b->rows[r] & 63);
      cells[r] = (board_cell){(w->right & bit) != 0, (w->known & bit) != 0};
      w->known &= ~bit;
      w->right &= ~bit;
    }
  }
}

/* The share of an answer: in a graded task that of its score, elsewhere its verdict; 0 where
** nothing can be said of the task. */
static double share_of(const board *b, const board_extra *extra) {
  const board_task *task = &b->task[board_task_of(b, extra->question)];
  if (task->outside) return 0;
  if (!task->graded || !extra->scored) return extra->correct;
  return share_of_score(task, extra->score);
}

/* Adds the answers to the cells; a first answer replaces the bit that stood for it. */
static void fill_cells(board *b, bool first) {
  for (size_t i = 0; i < b->extra_count; i++) {
    const board_extra *extra = &b->extras[i];
    if (extra->first != first || !b->row_of[extra->question]) continue;
    double share = share_of(b, extra);
    size_t at = extra->model * b->row_count + b->row_of[extra->question] - 1;
    board_cell *cell = &b->cells[at];
    if (first) {
      cell->total = share;
    } else {
      cell->n++;
      board_add_share(&b->sums[at], share);
    }
  }
}

static bool make_cells(board *b) {
  size_t count = b->models.count * b->row_count;
  b->cells = malloc((count + 1) * sizeof *b->cells);
  if (b->repeated) b->sums = calloc(count + 1, sizeof *b->sums);
  if (!b->cells || (b->repeated && !b->sums)) return false;
  move_bits(b);
  fill_cells(b, true);
  if (!b->repeated) return true;
  for (size_t i = 0; i < count; i++)
    if (b->cells[i].n) board_add_share(&b->sums[i], b->cells[i].total);
  fill_cells(b, false);
  /* A single answer keeps its own share, since the fixed-point sum may lack its last bits. */
  for (size_t i = 0; i < count; i++)
    if (b->cells[i].n > 1) b->cells[i].total = board_sum_of(b->sums[i]);
  return true;
}

ev_status board_settle(board *b) {
  size_t models = b->models.count, tasks = b->tasks.count;
  b->model_order = malloc((models + 1) * sizeof *b->model_order);
  b->model_place = malloc((models + 1) * sizeof *b->model_place);
  b->task_order = malloc((tasks + 1) * sizeof *b->task_order);
  b->task_place = malloc((tasks + 1) * sizeof *b->task_place);
  b->task_begin = malloc((tasks + 2) * sizeof *b->task_begin);
  b->by_task = malloc((b->questions.count + 1) * sizeof *b->by_task);
  if (!b->model_order || !b->model_place || !b->task_order || !b->task_place || !b->task_begin ||
      !b->by_task || !level_models(b) ||
      !(b->common = malloc((b->words + 1) * sizeof *b->common)) ||
      !sort_names(&b->models, b->model_order, b->model_place) ||
      !sort_names(&b->tasks, b->task_order, b->task_place))
    return EV_NO_MEMORY;
  find_ranges(b);
  find_common(b);
  group_by_task(b);
  if (has_rows(b) && !(number_rows(b) && make_cells(b))) return EV_NO_MEMORY;
  free(b->extras);
  b->extras = NULL;
  b->extra_count = b->extra_room = 0;
  return EV_OK;
}

const board_settings *board_settings_of(const board *b) {
  return &b->settings;
}

size_t board_models(const board *b) {
  return b->models.count;
}

size_t board_tasks(const board *b) {
  return b->tasks.count;
}

board_name board_model_name(const board *b, size_t model) {
  return board_name_at(&b->models, model);
}

board_name board_task_name(const board *b, size_t task) {
  return board_name_at(&b->tasks, task);
}

size_t board_model_named(const board *b, board_name name) {
  return board_find_name(&b->models, name, 0);
}

size_t board_model_place(const board *b, size_t model) {
  return b->model_place[model];
}

size_t board_task_place(const board *b, size_t task) {
  return b->task_place[task];
}

size_t board_model_at(const board *b, size_t place) {
  return b->model_order[place];
}

size_t board_task_at(const board *b, size_t place) {
  return b->task_order[place];
}
