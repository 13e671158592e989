/*
** A board: the answers of many models to many questions, and what they say about the
** models.  Knows nothing of SQL.
**
** 1. board_new(), then board_add() for every row, or board_add_counts() if these are counts.
** 2. board_settle(), once, after the last row.
** 3. Ask.  What is costly is computed when it is first asked for, and kept.
**
** A model, a task and a question have a number each, from 0, in the order in which they
** were first seen; no answer depends on that order.  A share is an answer's part of its
** task's range, from 0 to 1; right is 1 and wrong is 0.
*/
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "../stats/model.h"

/* In the order in which SQLite sorts values. */
typedef enum board_kind {
  BOARD_NULL,
  BOARD_INTEGER, /* 8 bytes */
  BOARD_REAL,    /* 8 bytes; never a whole number within the reach of an integer */
  BOARD_TEXT,
  BOARD_BLOB
} board_kind;

typedef struct board_name {
  board_kind kind;
  uint32_t size;
  const void *bytes;
} board_name;

typedef struct board_settings {
  double level;      /* of every interval, and 1 minus that is the threshold of verdicts */
  bool by_task;      /* each task counts alike; else each answer */
  bool errors_wrong; /* an answer that is not known counts as wrong; else it is left out */
  bool errors_given; /* the options say so; else a gate counts it as wrong */
  bool ranged;       /* scores are from lo to hi, in tasks whose rows do not say */
  double lo, hi;
  bool numbered;      /* attempts have numbers; else a repeated row is taken for an attempt */
  bool costed, timed; /* rows may have a cost, a latency */
  bool counts; /* rows are right answers and questions of a model, and no question has a name */
} board_settings;

/* One row of results. */
typedef struct board_row {
  board_name model, task, question;
  int correct;  /* 1 or 0, -1 where there is none */
  bool scored;  /* has a score */
  double score; /* NAN where it is no number */
  bool failed;  /* has an error */
  bool ranged;  /* says what the range of its task is */
  double lo, hi;
  double cost, latency; /* at least 0; NAN where there is none */
} board_row;

typedef struct board board;

board *board_new(const board_settings *settings); /* NULL without memory */
void board_free(board *b);
ev_status board_add(board *b, const board_row *row);
/* k of n questions right, of the model and task of a row. */
ev_status board_add_counts(board *b, const board_row *row, double k, double n);
ev_status board_settle(board *b);

const board_settings *board_settings_of(const board *b);
size_t board_models(const board *b);
size_t board_tasks(const board *b);
board_name board_model_name(const board *b, size_t model);
board_name board_task_name(const board *b, size_t task);

/* The number of a model; board_models() where there is none of that name. */
size_t board_model_named(const board *b, board_name name);

/* The places of models and of tasks in the order of their names; and what has a place. */
size_t board_model_place(const board *b, size_t model);
size_t board_task_place(const board *b, size_t task);
size_t board_model_at(const board *b, size_t place);
size_t board_task_at(const board *b, size_t place);

/* How a model stands: on all tasks, on one, or on the questions that all models answered. */
typedef struct board_standing {
  double n, correct, errored; /* answers known, right, and not known */
  double questions, tasks;    /* with a known answer */
  double accuracy;            /* the mean share; NAN where there is none */
  bool asked;                 /* has a row at all */
  bool graded, repeated;      /* has graded answers, has a question with several */
  bool outside;               /* has a score outside its task's range */
} board_standing;

/* standing.c.  Intervals are NAN where there is none. */
ev_status board_prepare(board *b);
board_standing board_model_standing(const board *b, size_t model);
board_standing board_task_standing(const board *b, size_t model, size_t task);
const char *board_method(const board *b, const board_standing *s, bool over_tasks);
ev_status board_model_interval(board *b, size_t model, ev_host host, ev_interval *ci);
ev_status board_task_interval(const board *b, size_t model, size_t task, ev_host host,
                              ev_interval *ci);

/* The range of a task's scores; false where its answers are right or wrong. */
bool board_task_range(const board *b, size_t task, double *lo, double *hi);

/* Over tasks: the mean of these tasks' accuracies, its interval, and the accuracy on other
** tasks like these. */
double board_macro(const board *b, size_t model);
ev_status board_macro_interval(board *b, size_t model, ev_host host, ev_interval *ci);
ev_status board_other_tasks(board *b, size_t model, ev_host host, ev_interval *ci);

/* missing.c: accuracy whatever the answers that are not known were. */
ev_status board_bounded(board *b, size_t model, ev_host host, ev_interval *ci);

/* The accuracy if all answers that are not known were wrong, and if all were right. */
void board_extremes(const board *b, size_t model, double *lowest, double *highest);

/* common.c: on the questions that every model answered. */
double board_common_questions(const board *b);
void board_common_standing(const board *b, size_t model, board_standing *s);
ev_status board_common_interval(const board *b, size_t model, ev_host host, ev_interval *ci);

/* pairs.c.  Two models, on the questions that both answered. */
typedef struct board_pair {
  uint32_t a, b, n;
  uint32_t slice;                /* 1 + the task whose questions these are; 0 for all tasks */
  uint32_t both, only_a, only_b; /* of the questions that are right or wrong and asked once */
  bool scored;                   /* some question is graded or was asked again */
  bool outside;                  /* a score is outside its task's range */
  bool tied;                     /* the same questions, and the same score on each */
  bool tested;                   /* has p */
  signed char verdict;           /* of all pairs at once: 1 A is better, -1 B is, 0 neither */
  double mean_a, mean_b;         /* NAN where outside */
  double p, p_all, prob;         /* NAN where not yet known, or outside */
} board_pair;

const char *board_pair_method(const board *b, const board_pair *p);

/* Counts one pair, in the order given; n is 0 where there is nothing to compare. */
ev_status board_count_pair(const board *b, size_t model_a, size_t model_b, board_pair *p);
ev_status board_count_slice(const board *b, size_t model_a, size_t model_b, size_t task,
                            board_pair *p); /* on the questions of one task */
ev_status board_test_pair(const board *b, board_pair *p, ev_host host);
ev_status board_pair_interval(board *b, board_pair *p, ev_host host, ev_interval *ci);
ev_status board_pair_prob(board *b, board_pair *p, ev_host host);

/* Every pair, by the places of its models, the lower one first.  All are counted, then
** all are tested and held to each other by Holm's method. */
ev_status board_count_pairs(board *b, ev_host host);
ev_status board_test_pairs(board *b, ev_host host);
const board_pair *board_pair_at(const board *b, size_t place_a, size_t place_b);

/* The ranks that the pairs leave open; board_test_pairs() comes first. */
void board_ranks(const board *b, size_t model, double *lo, double *hi);

/* best.c: how sure that each model is the best; NAN where it has no interval. */
ev_status board_best(board *b, size_t model, ev_host host, double *p);

/* The ranks that are open to a model: those that the pairs leave, or of counts, which have no
** pairs, those that its posterior holds. */
ev_status board_open_ranks(board *b, size_t model, ev_host host, double *lo, double *hi);

/* slices.c: p, and what it is when held to others by Holm's method and by Benjamini and
** Hochberg's; NAN where there is no test. */
typedef struct board_held {
  double p, holm, bh;
} board_held;

/* Fills what the p of a list are when held to each other. */
ev_status board_hold(board_held *list, size_t count);

/* A task of two models, held to all tasks that they share; its share, shrunken, of B among
** the questions that one model alone has right, NAN where there is none; and in words. */
ev_status board_held_slice(board *b, size_t model_a, size_t model_b, size_t task, ev_host host,
                           board_held *held);
ev_status board_shrunken_slice(board *b, size_t model_a, size_t model_b, size_t task, ev_host host,
                               ev_interval *ci);
ev_status board_slice_verdict(board *b, const board_pair *p, ev_host host, const char **words);

/* questions.c */
typedef struct board_question {
  double models, right; /* that answered, and that are right; NAN where scored */
  double mean;          /* of the models' shares; NAN without a model, or where outside */
  bool scored;          /* it is graded, or some model was asked again */
  bool outside;         /* a score is outside its task's range */
} board_question;

size_t board_questions(const board *b);
board_name board_question_name(const board *b, size_t question);
size_t board_question_task(const board *b, size_t question);
ev_status board_sort_questions(const board *b, uint32_t *order); /* by task and name */
board_question board_question_standing(const board *b, size_t question);

/* Of its difficulty, which is 1 - mean. */
ev_status board_question_interval(const board *b, size_t question, ev_host host, ev_interval *ci);

/* How being right on it goes with the rest: the correlation; the rank-sum test (item_rest.h),
** held to all questions; and what there is to say of it, NULL for nothing. */
ev_status board_item_rest(board *b, size_t question, double *r, ev_interval *ci);
ev_status board_item_auc(board *b, size_t question, double *auc);
ev_status board_miskeyed(board *b, size_t question, ev_host host, board_held *held);
ev_status board_question_note(board *b, size_t question, ev_host host, const char **words);

/* cost.c.  Of all answers, those that errored too, each counting alike whatever `by_task` is;
** NAN where there is none. */
typedef struct board_costs {
  bool known;
  double missing;         /* answers without a cost; NAN where rows have none at all */
  double mean, per_right; /* of an answer, and what is spent per right answer */
} board_costs;

typedef struct board_quantile {
  double value;
  ev_interval ci;
} board_quantile;

typedef struct board_latencies {
  bool known;
  double missing;
  board_quantile median, slow; /* slow is the 95th percentile */
} board_latencies;

ev_status board_cost(board *b, size_t model, board_costs *costs);
ev_status board_cost_interval(board *b, size_t model, ev_host host, ev_interval *ci);
ev_status board_per_right_interval(board *b, size_t model, ev_host host, ev_interval *ci);
ev_status board_latency(board *b, size_t model, board_latencies *latencies);

/* frontier.c: whether another model beats it on both accuracy and cost: surely none does, one
 *surely does,
 ** or neither can be told; no word where it has no accuracy or no cost. */
typedef enum board_frontier_word {
  BOARD_NO_WORD,
  BOARD_BEATEN,
  BOARD_OPEN,
  BOARD_SURE
} board_frontier_word;
ev_status board_frontier(board *b, size_t model, ev_host host, board_frontier_word *word);

/* passes.c: how many attempts at most a model had at a question of a task; 0 where that
** says nothing. */
size_t board_attempts(const board *b, size_t model, size_t task);

typedef struct board_pass {
  double questions; /* with at least k attempts */
  double at, hat;   /* one of k is right; all are */
  ev_interval at_ci, hat_ci;
} board_pass;

ev_status board_passes(const board *b, size_t model, size_t task, double k, board_pass *pass);
ev_status board_pass_intervals(const board *b, size_t model, size_t task, double k, ev_host host,
                               board_pass *pass);

#endif
