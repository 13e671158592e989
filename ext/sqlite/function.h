/*
** Private to ext/sqlite: the rows of the table in evalci.c, and what runs them.
**
** Every function is one row of one struct.  Its kind says how SQLite runs it; what it is
** computed from and the model that computes it are the row's, as its kind needs them.
*/
#ifndef EVALCI_FUNCTION_H
#define EVALCI_FUNCTION_H

#include "../stats/clustered.h"
#include "../stats/mean_diff.h"
#include "keys.h"
#include "scores.h"

typedef struct evalci_function evalci_function;
typedef struct evalci_group evalci_group;

/* How SQLite runs a function: once a call; or a row at a time, the rows of a
** frame coming and going; or so, the rows being gathered and then answered. */
typedef struct evalci_kind {
  /* The names of the arguments that must be given, NULL after the last: the kind's, or a
  ** function's own.  One that gathers rows has them there. */
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

/* A function's user data in SQLite.  What a row leaves out is 0. */
struct evalci_function {
  const char *name;
  const evalci_kind *kind;
  unsigned options; /* that may follow its arguments: EVALCI_LEVEL and so on */
  /* What its arguments are, and how they are read. */
  const struct evalci_layout *layout;
  const struct evalci_rows *rows;
  const struct evalci_plan *plan;
  const struct evalci_picture *picture;
  /* The model, by what it takes: its answer is an interval, or a probability. */
  union {
    void (*any)(void); /* whether there is one */
    ev_model *counts;
    ev_status (*polling)(const double *counts, const ev_options *, ev_host, ev_interval *);
    ev_cluster_model *clusters;
    ev_score_model *scores;
    ev_status (*two_scores)(const ev_score_list *, const ev_score_list *, const ev_options *,
                            ev_host, ev_interval *);
    ev_score_cluster_model *units;
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
  } p;
  double least;                /* with fewer scores the answer is NULL; 1 unless it is more */
  struct ev_paired_memo *memo; /* a connection's; NULL in the table */
};

/* Delivers what the model of the function that runs gave: the interval, or the probability
** as its `lo`; or an error. */
void evalci_result(sqlite3_context *context, ev_status status, ev_interval out);

/* The names of the arguments before its options, NULL after the last. */
const char *const *evalci_names_of(const evalci_function *f);

/* How many arguments come before its options. */
int evalci_arguments_of(const evalci_function *f);

/* How many arguments it takes, without the options that need not be given, with the
** first of them, with two and so on; -1 when there are no more. */
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

/* What the counts of a method are, and how rows become them.  A count whose cells are among
** the next one's is a k, and that its n. */
typedef struct evalci_layout {
  const char *columns[3]; /* of 0/1 results that the aggregate takes: one or two */
  const char *counts[EVALCI_MOST_COUNTS + 1]; /* that its twin takes */
  unsigned cells[EVALCI_MOST_COUNTS];         /* that each count adds up */
  bool separate_questions; /* each column has questions of its own, and its own n */
  bool none_counts; /* rows that are in no count are data too, so counts of 0 have an answer */
  bool polls;       /* the model is .ci.polling */
} evalci_layout;

extern const evalci_kind evalci_of_rows, evalci_of_counts;

/*
** gathered.c: rows kept in tables, until they are asked about.
*/

/* What is kept of a group or frame; zeroed before its first row. */
struct evalci_group {
  bool failed;             /* a row was refused: there is nothing to answer */
  int columns;             /* how many arguments a row has before its options */
  sqlite3_int64 rows;      /* in the group or frame, those that are skipped included */
  ev_options options;      /* the first row's */
  evalci_keys keys;        /* rows by cluster, task, label or pair of numbers; or */
  evalci_scores scores[2]; /* by score, of each column */
};

/* Where rows come from. */
typedef struct evalci_rows {
  const char *arguments[4];
  unsigned width; /* counts of a key; 0 where rows are kept by score */
  /* A row is added `times`, 1 or -1; false after leaving a message. */
  bool (*add)(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times);
} evalci_rows;

/* Run every kind that has an answer. */
void evalci_gathered_step(sqlite3_context *context, int argc, sqlite3_value **argv);
void evalci_gathered_inverse(sqlite3_context *context, int argc, sqlite3_value **argv);
void evalci_gathered_value(sqlite3_context *context);
void evalci_gathered_final(sqlite3_context *context);

/*
** memo.c: what the functions of one connection share.
*/
typedef struct evalci_shared evalci_shared;

/* NULL without memory.  Let go of by evalci_unshare(). */
evalci_shared *evalci_share(void);
void evalci_unshare(evalci_shared *shared);

/* A copy of a row that shares; NULL without memory. */
void *evalci_shared_row(evalci_shared *shared, const evalci_function *f);
void evalci_free_row(void *row);

/*
** clustered.c: rows to clusters, or clusters as given, to an interval or a probability.
*/
extern const evalci_rows evalci_clustered_results, evalci_given_clusters;
extern const evalci_rows evalci_labelled_clusters;
extern const evalci_rows evalci_attempted_items, evalci_given_items;

extern const evalci_kind evalci_of_clusters;

/* Likewise over attempts, of which every question has at least k. */
extern const evalci_kind evalci_of_attempts;

/* JSON with every cluster's own interval. */
extern const evalci_kind evalci_each_of_clusters;

/*
** tasks.c: scores by task, to an interval of the mean of tasks' means.
*/
extern const evalci_rows evalci_scores_by_task;
extern const evalci_kind evalci_of_tasks;

/*
** ranks.c: rows of results by their label, or one row a label, to JSON with the ranks
** that each may have.
*/
extern const evalci_rows evalci_labelled_results, evalci_labelled_counts;

extern const evalci_kind evalci_ranks_of_labels;

/*
** planning.c: rates and numbers of questions, to what they promise or need.
*/
extern const evalci_kind evalci_planned;
extern const struct evalci_plan evalci_plan_n, evalci_power_paired, evalci_plan_paired;
extern const struct evalci_plan evalci_power_diff, evalci_plan_diff, evalci_detectable;

/*
** attempts.c: the estimate of one question that was attempted several times.
*/
extern const evalci_kind evalci_pass_at_k, evalci_pass_hat_k;

/*
** graded.c: rows with a score or two, or one row a different score, to an interval or
** a probability of a mean or a difference of means.
*/
extern const evalci_rows evalci_ranged_scores, evalci_ranged_counts;
extern const evalci_rows evalci_any_scores, evalci_any_counts;
extern const evalci_rows evalci_values, evalci_value_counts;
extern const evalci_rows evalci_unpaired_scores;
extern const evalci_rows evalci_paired_scores, evalci_paired_counts;
extern const evalci_rows evalci_paired_any_scores, evalci_paired_any_counts;

extern const evalci_kind evalci_of_scores, evalci_of_two_scores;

/*
** units.c: scores by cluster, clusters by their totals, or scores with weights, to an
** interval or a probability of a mean or a difference of means.
*/
extern const evalci_rows evalci_clustered_scores, evalci_clustered_differences;
extern const evalci_rows evalci_given_totals, evalci_given_differences;
extern const evalci_rows evalci_weighted_scores, evalci_totals_and_counts;

extern const evalci_kind evalci_of_units, evalci_of_weighted;

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

/* prob_better(18, 20, 10, 20): somebody has counts and took the aggregate for its twin.  The
** call of the twin, to be freed; NULL where there is none, or it takes other than these. */
char *evalci_twin_call(const evalci_function *f, int argc, sqlite3_value **argv);

/* A kind that has nothing but errors, for every arity a function does not take. */
const evalci_kind *evalci_wrong_arity_for(const evalci_kind *kind);

/* The function of a name; NULL if there is none. */
const evalci_function *evalci_function_named(const char *name);

#endif
