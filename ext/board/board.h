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
#include "../stats/pooled.h"

/* The types in the order in which SQLite sorts values. */
typedef enum board_kind {
  BOARD_NULL,
  BOARD_INTEGER, /* 8 bytes */
  BOARD_REAL,    /* 8 bytes; never a whole number in the range of an integer */
  BOARD_TEXT,
  BOARD_BLOB
} board_kind;

typedef struct board_name {
  board_kind kind;
  uint32_t size;
  const void *bytes;
} board_name;

typedef struct board_settings {
  double level;      /* of every interval; verdicts use the threshold 1 - level */
  bool by_task;      /* each task counts the same; else each question */
  bool errors_wrong; /* an unknown answer counts as wrong; else it is left out */
  bool errors_given; /* the options set the above; else a gate counts unknown answers as wrong */
  bool ranged;       /* the range of scores, in tasks whose rows do not declare one */
  double lo, hi;
  bool numbered;      /* attempts have numbers; else a repeated row is taken for an attempt */
  bool costed, timed; /* rows may have a cost, or a latency */
  bool
      counts; /* rows are counts, right answers and questions of a model; questions have no names */
} board_settings;

/* One row of results. */
typedef struct board_row {
  board_name model, task, question;
  int correct;  /* 1 or 0, -1 where there is none */
  bool scored;  /* has a score */
  double score; /* NAN if it is not a number */
  bool failed;  /* has an error */
  bool ranged;  /* declares the range of its task */
  double lo, hi;
  double cost, latency; /* at least 0; NAN where there is none */
} board_row;

typedef struct board board;

board *board_new(const board_settings *settings); /* NULL without memory */
void board_free(board *b);
ev_status board_add(board *b, const board_row *row);
/* Adds k right answers of n questions, for the model and task of a row. */
ev_status board_add_counts(board *b, const board_row *row, double k, double n);
ev_status board_settle(board *b);

/* Whether a score, of any model, is outside its task's range, or is not a number: then nothing
** can be ranked.  The first such task by name, and the least and the greatest of its scores; NAN if
** none is a number. */
bool board_out_of_range(const board *b, size_t *task, double *lo, double *hi);

/* Whether another task has graded answers, all in a range that its rows do not declare. */
bool board_others_graded(const board *b, size_t task);

const board_settings *board_settings_of(const board *b);
size_t board_models(const board *b);
size_t board_tasks(const board *b);
board_name board_model_name(const board *b, size_t model);
board_name board_task_name(const board *b, size_t task);

/* The number of a model; board_models() if no model has that name. */
size_t board_model_named(const board *b, board_name name);

/* Models and tasks by their position in the order of names, and the reverse. */
size_t board_model_place(const board *b, size_t model);
size_t board_task_place(const board *b, size_t task);
size_t board_model_at(const board *b, size_t place);
size_t board_task_at(const board *b, size_t place);

/* The accuracy of a model: on all tasks, on one, or on the questions that all models answered. */
typedef struct board_standing {
  double n, correct, errored; /* answers: known, right, unknown */
  double questions, tasks;    /* questions with a known answer */
  double accuracy;            /* the mean of question means; NAN where there is none */
  bool asked;                 /* has a row at all */
  bool graded, repeated;      /* has graded answers, has a question with several */
} board_standing;

/* standing.c.  Intervals are NAN where they cannot be computed. */
ev_status board_prepare(board *b);
board_standing board_model_standing(const board *b, size_t model);
board_standing board_task_standing(const board *b, size_t model, size_t task);
const char *board_method(const board *b, const board_standing *s, bool over_tasks);
ev_status board_model_interval(board *b, size_t model, ev_host host, ev_interval *ci);
ev_status board_task_interval(const board *b, size_t model, size_t task, ev_host host,
                              ev_interval *ci);

/* The range of a task's scores; false where its answers are right or wrong.  Whether the rows of
** the task declare it. */
bool board_task_range(const board *b, size_t task, double *lo, double *hi);
bool board_task_declared(const board *b, size_t task);

/* Over tasks: the mean of these tasks' accuracies, its interval, and the accuracy on other
** tasks like these. */
double board_macro(const board *b, size_t model);
ev_status board_macro_interval(board *b, size_t model, ev_host host, ev_interval *ci);
ev_status board_other_tasks(board *b, size_t model, ev_host host, ev_interval *ci);

/* missing.c: bounds on the accuracy, whatever the unknown answers were. */
ev_status board_bounded(board *b, size_t model, ev_host host, ev_interval *ci);

/* The accuracy if all unknown answers were wrong, and if all were right. */
ev_status board_extremes(const board *b, size_t model, double *lowest, double *highest);

/* common.c: the same on the questions that every model answered. */
double board_common_questions(const board *b);
void board_common_standing(const board *b, size_t model, board_standing *s);
ev_status board_common_interval(const board *b, size_t model, ev_host host, ev_interval *ci);

/* pairs.c.  Two models, on the questions that both answered. */
typedef struct board_pair {
  uint32_t a, b, n;
  uint32_t slice; /* 1 + the task; 0 for all tasks */
  uint32_t both, only_a,
      only_b;  /* counts of the questions that are right or wrong and asked once */
  bool scored; /* some question is graded or was asked again */
  bool graded; /* some question is graded */
  bool tied;   /* the models have the same score on every question */
  bool tested; /* p is computed */
  signed char
      verdict; /* after Holm's correction over all pairs: 1 A is better, -1 B is, 0 neither */
  double mean_a, mean_b; /* NAN without a shared question */
  double p, p_all, prob; /* NAN if not yet computed */
} board_pair;

const char *board_pair_method(const board *b, const board_pair *p);

/* Counts one pair, in the order given; n is 0 where there is nothing to compare. */
ev_status board_count_pair(const board *b, size_t model_a, size_t model_b, board_pair *p);
ev_status board_count_slice(const board *b, size_t model_a, size_t model_b, size_t task,
                            board_pair *p); /* on the questions of one task */
ev_status board_test_pair(const board *b, board_pair *p, ev_host host);
ev_status board_pair_interval(board *b, board_pair *p, ev_host host, ev_interval *ci);
ev_status board_pair_prob(board *b, board_pair *p, ev_host host);

/* The interval of a mean of differences from -1 to 1, which allows for larger ones than were
** seen; and whether only the pair's own interval, `ci`, separates the two.  That is of interest
** for graded questions alone, and not if all differences are -1, 0 and 1. */
ev_status board_pair_unseen(const board *b, const board_pair *p, ev_host host, ev_interval *ci);
ev_status board_pair_hedged(const board *b, const board_pair *p, const ev_interval *ci,
                            ev_host host, bool *hedged);

/* Every pair, by the positions of its models, the lower one first.  All pairs are counted,
** tested, and corrected by Holm's method. */
ev_status board_count_pairs(board *b, ev_host host);
ev_status board_test_pairs(board *b, ev_host host);
const board_pair *board_pair_at(const board *b, size_t place_a, size_t place_b);

/* joint.c.  One posterior of the accuracies of all models with an answer, or the reason that there
** is none. */
typedef enum board_joint_kind {
  BOARD_JOINED, /* by the questions that models share */
  BOARD_ALIKE,  /* no two models share a question: their questions are taken to be alike */
  BOARD_CUT,    /* none: no chain of shared questions joins two of the models */
  BOARD_MANY    /* none: there are more than a thousand models */
} board_joint_kind;

typedef struct board_joint {
  board_joint_kind kind;
  size_t apart[2]; /* BOARD_CUT: two models that nothing joins */
  double least;    /* two models are in order if the smaller probability of their pair is at most
                      this, which is negative if no two are */
} board_joint;

ev_status board_joint_of(board *b, ev_host host, const board_joint **joint);

/* P(best), the expected rank, and the ranks that a model may have; NAN if there is no posterior, or
** no answer of the model. */
ev_status board_place(board *b, size_t model, ev_host host, ev_place *place);

/* The probability that A is better than B, and the difference of their accuracies on the questions
** of all models, by least squares with an effect of every question; NAN likewise. */
ev_status board_prob_all(board *b, size_t model_a, size_t model_b, ev_host host, double *prob,
                         double *diff);

/* slices.c: p, and p corrected by Holm's method and by Benjamini and Hochberg's; NAN without a
** test. */
typedef struct board_adjusted {
  double p, holm, bh;
} board_adjusted;

/* Corrects the p of a list. */
ev_status board_adjust(board_adjusted *list, size_t count);

/* One task of two models: its p corrected over all tasks that they share; B's share of the
** questions that exactly one model has right, shrunken (NAN if there is none); and the verdict
** in words. */
ev_status board_adjusted_slice(board *b, size_t model_a, size_t model_b, size_t task, ev_host host,
                               board_adjusted *held);
ev_status board_shrunken_slice(board *b, size_t model_a, size_t model_b, size_t task, ev_host host,
                               ev_interval *ci);
ev_status board_slice_verdict(board *b, const board_pair *p, ev_host host, const char **words);

/* questions.c */
typedef struct board_question {
  double models, right; /* models that answered, and models that are right; NAN if scored */
  double mean;          /* mean of the models' shares; NAN without a model */
  bool scored;          /* it is graded, or some model was asked again */
} board_question;

size_t board_questions(const board *b);
board_name board_question_name(const board *b, size_t question);
size_t board_question_task(const board *b, size_t question);
ev_status board_sort_questions(const board *b, uint32_t *order); /* by task and name */
board_question board_question_standing(const board *b, size_t question);

/* The interval of its difficulty, 1 - mean. */
ev_status board_question_interval(const board *b, size_t question, ev_host host, ev_interval *ci);

/* How being right on the question relates to the other questions: the correlation; the rank-sum
** test (item_rest.h), corrected over all questions; and a remark, NULL for none. */
ev_status board_item_rest(board *b, size_t question, double *r, ev_interval *ci);
ev_status board_item_auc(board *b, size_t question, double *auc);
ev_status board_miskeyed(board *b, size_t question, ev_host host, board_adjusted *held);
ev_status board_question_note(board *b, size_t question, ev_host host, const char **words);

/* cost.c.  Over all answers, including errored ones, each with the same weight whatever
** `by_task` is; NAN if there is none. */
typedef struct board_costs {
  bool known;
  double missing;         /* answers without a cost; NAN if no row has a cost */
  double mean, per_right; /* the mean cost of an answer, and the cost per right answer */
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

/* frontier.c: whether another model beats it on both accuracy and cost: surely not, surely, or
** undecided; NULL if it has no accuracy or no cost. */
typedef enum board_frontier_word {
  BOARD_NO_WORD,
  BOARD_BEATEN,
  BOARD_OPEN,
  BOARD_SURE
} board_frontier_word;
ev_status board_frontier(board *b, size_t model, ev_host host, board_frontier_word *word);

/* passes.c: the largest number of attempts of a model at a question of a task; 0 if attempts say
** nothing there. */
size_t board_attempts(const board *b, size_t model, size_t task);

typedef struct board_pass {
  double questions; /* with at least k attempts */
  double at, hat;   /* one of k is right; all are */
  ev_interval at_ci, hat_ci;
} board_pass;

ev_status board_passes(const board *b, size_t model, size_t task, double k, board_pass *pass);
ev_status board_pass_intervals(const board *b, size_t model, size_t task, double k, ev_host host,
                               board_pass *pass);

/* noise.c: whether some question of a task whose answers are right or wrong was asked again. */
bool board_asked_again(const board *b, size_t model);

/* The shares of the variance of one answer that are the tasks', the questions' and the reruns',
** over the tasks whose answers are right or wrong. */
enum { BOARD_PARTS = 3 };

typedef struct board_noise_parts {
  double tasks, questions, n; /* how many tasks, questions and answers */
  double share[BOARD_PARTS];
  ev_interval ci[BOARD_PARTS];
} board_noise_parts;

/* Of a model of which some question was asked again; shares are NAN where the computation gave
** up. */
ev_status board_noise(const board *b, size_t model, ev_host host, board_noise_parts *parts);

#endif
