/*
** Private to ext/board: the parts of a board.
*/
#ifndef BOARD_INSIDE_H
#define BOARD_INSIDE_H

#include "../stats/mean.h"
#include "../stats/paired.h"
#include "board.h"

/*
** names.c
*/

/* A set of names, each with an owner, as a question has its task.  Names are numbered in the order
** in which they came. */
typedef struct board_entry {
  size_t at; /* of its bytes */
  uint32_t size, hash, owner, kind;
} board_entry;

typedef struct board_names {
  board_entry *entries;
  size_t count, room;
  char *bytes;
  size_t used, bytes_room;
  uint32_t *slots; /* 0, or 1 + a number; open addressing */
  size_t slot_count;
} board_names;

/* The number of a name, which is added if it is new.  `near` is a guess: rows are usually
** sorted, and most names are that of the row before or the one after it.  False without memory. */
bool board_name_number(board_names *names, board_name name, uint32_t owner, uint32_t near,
                       uint32_t *number);

/* The same without adding it: `count` where there is none. */
size_t board_find_name(const board_names *names, board_name name, uint32_t owner);
board_name board_name_at(const board_names *names, size_t number);
int board_compare_names(board_name x, board_name y);
void board_free_names(board_names *names);

/* Makes room for `want` elements; new ones are zero.  False without memory. */
bool board_grow(void *array, size_t *room, size_t want, size_t size);

/*
** answers.c
*/

/* Sixty-four questions of a model that are right or wrong and asked once. */
typedef struct board_word {
  uint64_t known, right;
} board_word;

typedef struct board_tally {
  uint32_t asked, unknown;
  double n, correct; /* n includes unknown answers if they count as wrong */
} board_tally;

typedef struct board_model {
  board_word *words;
  size_t words_room;
  board_tally *tasks;
  size_t tasks_room;
} board_model;

typedef struct board_task {
  bool graded, declared; /* has graded answers; its rows declare the range */
  bool outside;          /* a score, of any model, is outside the range, or is not a number */
  double lo, hi;         /* the range */
  double least, most;    /* the scores seen; NAN without one */
} board_task;

/* An answer that does not fit in a bit: it has a score, or it is not the first. */
typedef struct board_extra {
  double score;
  uint32_t model, question;
  signed char correct;
  bool scored, first;
} board_extra;

/* An unknown answer. */
typedef struct board_unknown {
  uint32_t model, question;
} board_unknown;

/* The cost and latency of an answer; NAN where unknown. */
typedef struct board_spent {
  double cost, latency;
  uint32_t model, question;
} board_spent;

/* A model's answers to a question: the number of known ones, and the sum of their shares. */
typedef struct board_cell {
  double total;
  uint32_t n;
} board_cell;

/* A sum of shares in fixed point, in units of 2^-31 and 2^-62, so that it does not depend on the
** order of addition. */
typedef struct board_sum {
  int64_t units, rest;
} board_sum;

void board_add_share(board_sum *sum, double share);
void board_add_shares(board_sum *sum, double share, double times);
void board_add_right(board_sum *sum, uint64_t answers);
double board_sum_of(board_sum sum);

/* The number of set bits, without a processor instruction that not every processor has. */
static inline uint32_t board_popcount(uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  return (uint32_t)((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56);
}

/* Results computed once, when first asked for. */
typedef struct board_cached {
  bool known;
  ev_interval ci;
} board_cached;

typedef struct board_total {
  board_standing standing;
  board_cached ci, macro, other_tasks, bounded, cost, per_right;
  ev_place place;  /* joint.c, as are these */
  double fitted;   /* its accuracy, up to a constant of the board */
  size_t joint_at; /* its row and column of prob_all */
} board_total;

typedef struct board_part {
  board_sum sum; /* of question means; 0 where the source has counts */
  double n, correct, questions;
  uint32_t errored;
  bool asked, repeated;
} board_part;

/* Results kept for the tasks of one pair. */
typedef struct board_slices {
  bool known;
  size_t a, b;
  board_adjusted *held; /* one or the other, one per task */
  ev_interval *shrunken;
} board_slices;

/* A model's question scores: their sum and number. */
typedef struct board_rest {
  board_sum sum;
  double n;
} board_rest;

struct board {
  board_settings settings;
  ev_options options; /* options for every model of ext/stats */
  board_names models, tasks, questions;
  board_model *model;
  board_task *task;
  size_t model_room, task_room;
  board_extra *extras;
  size_t extra_count, extra_room;
  board_unknown *unknown;
  size_t unknown_count, unknown_room;
  board_spent *spent;
  size_t spent_count, spent_room;
  uint32_t last_model, last_task, last_question; /* numbers of the previous row */
  bool repeated;                                 /* some question has several answers */

  /* settle.c */
  size_t words;
  uint32_t *model_order, *model_place, *task_order, *task_place;
  uint32_t *by_task, *task_begin; /* questions, sorted by task */
  uint32_t *row_of;               /* 1 + the row of a question; NULL if there are no rows */
  uint32_t *rows;                 /* questions that are compared one by one */
  size_t row_count;
  board_cell *cells; /* models x rows */
  board_sum *sums;   /* likewise; NULL if every cell has one answer */
  uint64_t *common;  /* questions that every model answered, one bit each */
  double common_count;
  size_t answering; /* models with a known answer */

  /* standing.c */
  board_part *parts; /* models x tasks */
  board_total *totals;

  /* pairs.c */
  board_pair *pairs;
  bool pairs_tested;
  ev_paired_memo memo;

  /* joint.c */
  bool joint_known;
  board_joint joint;
  double *prob_all; /* NULL if there are not two models to compare */
  size_t joint_models;

  board_slices held_slices, shrunken_slices;

  /* cost.c, frontier.c */
  size_t *spent_begin; /* where each model begins, once the costs are sorted */
  board_costs *costs;  /* one per model, once computed */
  board_latencies *latencies;
  board_frontier_word *frontier;

  /* questions.c */
  board_rest *rests;
  board_adjusted *miskeyed; /* one per question */
};

static inline bool board_bit(const uint64_t *bits, size_t question) {
  return bits[question >> 6] >> (question & 63) & 1;
}

static inline uint32_t board_task_of(const board *b, size_t question) {
  return b->questions.entries[question].owner;
}

static inline board_cell *board_cells_of(const board *b, size_t model) {
  return b->cells + model * b->row_count;
}

/* A model's answers to a question, from its bit or its row. */
static inline board_cell board_answer(const board *b, size_t model, size_t question) {
  if (b->row_of && b->row_of[question]) return board_cells_of(b, model)[b->row_of[question] - 1];
  const board_word *w = &b->model[model].words[question >> 6];
  return (board_cell){(double)(w->right >> (question & 63) & 1),
                      (uint32_t)(w->known >> (question & 63) & 1)};
}

/* missing.c: the number of a model's unknown answers, by question; to be freed, NULL without
** memory. */
uint32_t *board_unknown_of(const board *b, size_t model);

/* cost.c: keeps the cost and latency of a row, if any; false without memory. */
bool board_keep_spent(board *b, const board_row *row);

/* A question of a model: the total cost of its answers, and the number of answers with a cost. */
typedef struct board_question_cost {
  double total, costed;
  uint32_t question;
} board_question_cost;

/* The questions of a model with a cost, by number; to be freed.  False without memory. */
bool board_question_costs(board *b, size_t model, board_question_cost **out, size_t *count);

/* pairs.c: the sign-flip test of differences between -1 and 1. */
ev_status board_flip_test(const board *b, const ev_score *diffs, size_t count, ev_host host,
                          double *p);

/*
** interval.c: a model's answers in the form that ext/stats takes.
*/
typedef struct board_units {
  ev_score_cluster *list; /* questions: total, number of answers, number of such questions */
  size_t count, room;
  double questions;
} board_units;

/* A model's unknown answers, counted as all wrong or all right. */
typedef struct board_missing {
  const uint32_t *of; /* how many of each question */
  double share;       /* what each counts as: 0 or 1 */
} board_missing;

/* Appends the answers of a model to the questions of a task, or only to those that every model
** answered; and the unknown ones, unless `missing` is NULL. */
ev_status board_gather(const board *b, size_t model, size_t task, bool common,
                       const board_missing *missing, board_units *units);
void board_free_units(board_units *units);

ev_status board_units_interval(const board_units *units, const ev_options *options, ev_host host,
                               ev_interval *ci);

/* The same of questions that are right or wrong, by their numbers. */
ev_status board_right_interval(double right, double n, const ev_options *options, ev_host host,
                               ev_interval *ci);

/* The mean of tasks, each with the same weight, on all questions or on the common ones. */
ev_status board_tasks_interval(const board *b, size_t model, bool common,
                               const board_missing *missing, ev_host host, ev_interval *ci);

/* Rounds to twelve digits after the point: beyond them a mean of tasks may depend on their
** order. */
double board_round(double x);

/* Over tasks, a model with one task is treated as on that task. */
static inline bool board_over_tasks(const board *b, const board_standing *s) {
  return b->settings.by_task && s->tasks > 1;
}

/* Keeps an interval; one that failed because memory was short is computed again. */
static inline ev_status board_keep(board_cached *kept, ev_status status, const ev_interval *ci) {
  *kept = (board_cached){status == EV_OK, *ci};
  return status;
}

/* A posterior's interval excludes the point beside it where all answers are alike: it is widened to
** hold it. */
static inline void board_hold(ev_interval *ci, double point) {
  ci->lo = isnan(ci->lo) ? ci->lo : fmin(ci->lo, point);
  ci->hi = isnan(ci->hi) ? ci->hi : fmax(ci->hi, point);
}

static inline ev_interval board_no_interval(void) {
  return (ev_interval){NAN, NAN};
}

#endif
