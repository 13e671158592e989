/*
** Private to ext/sqlite: the rows of the table in evalci.c, and what runs them.
**
** Every function is one row of one struct.  Its kind says how SQLite runs it; the other fields say
** what it is computed from and by which model, as far as the kind needs them.
*/
#ifndef EVALCI_FUNCTION_H
#define EVALCI_FUNCTION_H

#include "../stats/agreement.h"
#include "../stats/clustered.h"
#include "../stats/mean_diff.h"
#include "../stats/moments.h"
#include "keys.h"
#include "scores.h"

typedef struct evalci_function evalci_function;
typedef struct evalci_group evalci_group;

/* How SQLite runs a function: a scalar; an aggregate with its own step; or an aggregate over
** gathered rows. */
typedef struct evalci_kind {
  /* Names of the required arguments, NULL after the last, either here or in the function's row.
  ** A function that gathers rows has them in its row description. */
  const char *names[4];
  const char *const *(*arguments)(const evalci_function *f);
  bool json; /* its result is marked as JSON, as every interval is */
  void (*scalar)(sqlite3_context *, int, sqlite3_value **);
  void (*step)(sqlite3_context *, int, sqlite3_value **);
  void (*final)(sqlite3_context *);
  void (*value)(sqlite3_context *);
  void (*inverse)(sqlite3_context *, int, sqlite3_value **);
  void (*answer)(sqlite3_context *, const evalci_group *);
} evalci_kind;

/* One row of the table; it is the function's user data in SQLite.  Fields that a row leaves out
** are 0. */
struct evalci_function {
  const char *name;
  const evalci_kind *kind;
  unsigned options; /* the options that may follow the arguments: EVALCI_LEVEL and so on */
  /* What the arguments are, and how they are read. */
  const struct evalci_layout *layout;
  const struct evalci_rows *rows;
  const struct evalci_plan *plan;
  const struct evalci_picture *picture;
  /* The model, by the type of its data; its answer is an interval or a probability. */
  union {
    void (*any)(void); /* for testing whether there is one */
    ev_model *counts;
    ev_cluster_model *clusters;
    ev_score_model *scores;
    ev_moment_model *moments;
    ev_status (*two_scores)(const ev_score_list *, const ev_score_list *, const ev_options *,
                            ev_host, ev_interval *);
    ev_score_cluster_model *units;
    ev_table_model *table;
    ev_ratings_model *ratings;
    ev_status (*weighted)(const ev_weighted_score *, size_t, const ev_options *, ev_host,
                          ev_interval *);
  } ci;
  union {
    void (*any)(void);
    ev_probability *counts;
    ev_cluster_probability *clusters;
    ev_status (*scores)(const ev_score *, size_t, const ev_options *, ev_host, double *);
    ev_status (*two_scores)(const ev_score_list *, const ev_score_list *, const ev_options *,
                            ev_host, double *);
    ev_status (*units)(const ev_score_cluster *, size_t, const ev_options *, ev_host, double *);
    ev_table_model *table; /* a point, NaN where there is none */
    ev_ratings_model *ratings;
  } p;
  struct ev_paired_memo *memo; /* of the connection; NULL in the table */
};

/* Delivers what the model gave: the interval, or the probability in its `lo`, or an error. */
void evalci_result(sqlite3_context *context, ev_status status, ev_interval out);

/* Names of the arguments before the options, NULL after the last. */
const char *const *evalci_names_of(const evalci_function *f);

/* The number of arguments before the options. */
int evalci_arguments_of(const evalci_function *f);

/* The n-th number of arguments that the function takes: without optional arguments, with the
** first, with the first two and so on; -1 when there are no more. */
int evalci_arity_of(const evalci_function *f, int options_given);

/*
** tally.c: 0/1 rows to counts, or counts as given, to an interval or a
** probability.
*/

/* A cell is the rows with the same results in the first and the second column: 1, 0 or none.
** One column has none in the second. */
enum {
  EVALCI_BOTH = 1 << 0,
  EVALCI_ONLY_FIRST = 1 << 1,
  EVALCI_RIGHT = 1 << 2,
  EVALCI_ONLY_SECOND = 1 << 3,
  EVALCI_NEITHER = 1 << 4,
  EVALCI_WRONG = 1 << 5,
  EVALCI_SECOND_RIGHT = 1 << 6,
  EVALCI_SECOND_WRONG = 1 << 7,
  EVALCI_NOT_GRADED = 1 << 8
};
enum { EVALCI_MOST_COUNTS = 6 };

/* What the counts of a method are, and how rows become counts.  If the cells of a count are
** among those of the next one, the two are a k and its n. */
typedef struct evalci_layout {
  const char *columns[3]; /* the aggregate's columns of 0/1 results: one or two */
  const char *counts[EVALCI_MOST_COUNTS + 1]; /* the arguments of the twin over counts */
  unsigned cells[EVALCI_MOST_COUNTS];         /* the cells that each count sums */
  bool separate_questions; /* the columns are different questions, each with its own n */
  bool none_counts;        /* rows outside all counts are data too, so counts of 0 have an answer */
} evalci_layout;

extern const evalci_kind evalci_of_rows, evalci_of_counts;

/*
** gathered.c: rows kept in tables until the answer is asked for.
*/

/* The state of a group or frame; zeroed before its first row. */
struct evalci_group {
  bool failed;             /* a row was refused, so there is no result */
  int columns;             /* the number of arguments before the options */
  sqlite3_int64 rows;      /* in the group or frame, including rows that are skipped */
  ev_options options;      /* the options of the first row */
  evalci_keys keys;        /* rows by cluster, task, label or pair of numbers; or */
  evalci_scores scores[2]; /* by score, of each column; or */
  ev_moments *moments;     /* by their exact sums */
};

/* How rows are read and kept. */
typedef struct evalci_rows {
  const char *arguments[6];
  unsigned width; /* counts per key; 0 where rows are kept by score */
  /* Adds a row `times` times, 1 or -1; false after leaving a message. */
  bool (*add)(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times);
} evalci_rows;

/* The step, inverse, value and final function of every kind that gathers rows. */
void evalci_gathered_step(sqlite3_context *context, int argc, sqlite3_value **argv);
void evalci_gathered_inverse(sqlite3_context *context, int argc, sqlite3_value **argv);
void evalci_gathered_value(sqlite3_context *context);
void evalci_gathered_final(sqlite3_context *context);

/*
** memo.c: what the functions of one connection share.
*/
typedef struct evalci_shared evalci_shared;

/* NULL without memory.  Released by evalci_unshare(). */
evalci_shared *evalci_share(void);
void evalci_unshare(evalci_shared *shared);

/* A copy of a row that shares the memo; NULL without memory. */
void *evalci_shared_row(evalci_shared *shared, const evalci_function *f);
void evalci_free_row(void *row);

/*
** clustered.c: rows to clusters, or clusters as given, to an interval or a probability.
*/
extern const evalci_rows evalci_clustered_results, evalci_given_clusters;
extern const evalci_rows evalci_labelled_clusters;
extern const evalci_rows evalci_attempted_items, evalci_given_items;

extern const evalci_kind evalci_of_clusters;

/* Likewise over attempts; every question has at least k. */
extern const evalci_kind evalci_of_attempts;

/* JSON with every cluster's own interval. */
extern const evalci_kind evalci_each_of_clusters;

/* The clusters, to be freed; NULL if there are none, or after reporting that there is no memory. */
ev_cluster *evalci_list_clusters(sqlite3_context *context, const evalci_group *g, size_t *count);

/*
** reruns.c: attempts at questions, to what a rerun of the same questions would score.
*/
extern const evalci_rows evalci_two_attempted;
extern const evalci_kind evalci_of_reruns, evalci_of_two_reruns;

/*
** nested.c: attempts by task and question, to an interval of theta, or to JSON with each task's
** own interval or the shares of the variance.
*/
extern const evalci_rows evalci_nested_attempts, evalci_nested_questions, evalci_nested_labelled;
extern const evalci_kind evalci_nested, evalci_nested_each, evalci_nested_noise;

/*
** agreement.c: pairs of ratings, or ratings by unit, to a coefficient of agreement or its interval.
*/
extern const evalci_rows evalci_paired_ratings, evalci_counted_ratings, evalci_unit_ratings;
extern const evalci_kind evalci_of_paired_ratings, evalci_of_unit_ratings;

/*
** tasks.c: scores by task, to an interval of the mean of tasks' means.
*/
extern const evalci_rows evalci_scores_by_task;
extern const evalci_kind evalci_of_tasks;

/*
** ranks.c: rows of results by their label, or one row per label, to JSON with the ranks
** that each may have.
*/
extern const evalci_rows evalci_labelled_results, evalci_labelled_counts;

extern const evalci_kind evalci_ranks_of_labels;

/*
** votes.c: votes between two models at a time, one row per vote or per pair, to JSON with the
** models' ratings or every pair's.
*/
extern const evalci_rows evalci_votes, evalci_vote_counts;
extern const evalci_kind evalci_rated_models, evalci_rated_pairs;

/*
** planning.c: rates and numbers of questions, to a power or a number of questions.
*/
extern const evalci_kind evalci_planned, evalci_planned_runs;
extern const struct evalci_plan evalci_plan_n, evalci_power_paired, evalci_plan_paired;
extern const struct evalci_plan evalci_power_diff, evalci_plan_diff, evalci_detectable;
extern const struct evalci_plan evalci_plan_gate, evalci_plan_runs;

/*
** attempts.c: the estimate of one question that was attempted several times.
*/
extern const evalci_kind evalci_pass_at_k, evalci_pass_hat_k;

/*
** graded.c: rows with a score or two, or one row per different score, to an interval or
** a probability of a mean or a difference of means.
*/
extern const evalci_rows evalci_ranged_scores, evalci_ranged_counts;
extern const evalci_rows evalci_summed_scores, evalci_summed_counts;
extern const evalci_rows evalci_values, evalci_value_counts;
extern const evalci_rows evalci_unpaired_scores;
extern const evalci_rows evalci_paired_scores, evalci_paired_counts;
extern const evalci_rows evalci_paired_any_scores, evalci_paired_any_counts;

extern const evalci_kind evalci_of_scores, evalci_of_two_scores, evalci_of_moments;

/*
** units.c: scores by cluster, clusters by their totals, or scores with weights, to an
** interval or a probability of a mean or a difference of means.
*/
extern const evalci_rows evalci_clustered_scores, evalci_clustered_differences;
extern const evalci_rows evalci_given_totals, evalci_given_differences;
extern const evalci_rows evalci_weighted_scores, evalci_totals_and_counts, evalci_counted_amounts;

extern const evalci_kind evalci_of_units, evalci_of_weighted;

/* Counts a pair of numbers, which is the key of an entry with one count, n times; false after
** leaving a message. */
bool evalci_add_numbers(evalci_call *call, evalci_group *g, const double pair[2], double n,
                        int times);

/*
** judged.c: a judge's scores and, for some answers, a person's, to the interval of a mean that a
** person would have found.
*/
extern const evalci_rows evalci_judged_scores, evalci_judged_counts;
extern const evalci_rows evalci_judged_differences, evalci_judged_difference_counts;

extern const evalci_kind evalci_of_judged, evalci_of_judged_differences;

/*
** reading.c: functions that read an interval, and are nothing but their kind.
*/
extern const evalci_kind evalci_lo, evalci_hi, evalci_width, evalci_text, evalci_bar;

/*
** picture.c: rows to an SVG document.
*/
extern const evalci_kind evalci_picture_of_rows;
extern const struct evalci_picture evalci_forest, evalci_heatmap;

/*
** arity.c: a wrong number of arguments (contract 8).
*/

/* For calls like prob_better(18, 20, 10, 20), where somebody with counts mistook the aggregate for
** its twin over counts: the call of the twin, to be freed; NULL if there is no twin, or it takes
** other arguments. */
char *evalci_twin_call(const evalci_function *f, int argc, sqlite3_value **argv);

/* The kind registered for every arity that a function does not take: it reports an error. */
const evalci_kind *evalci_wrong_arity_for(const evalci_kind *kind);

/* The function of a name; NULL if there is none. */
const evalci_function *evalci_function_named(const char *name);

#endif
