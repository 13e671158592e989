/*
** Private to eval_report: the page over a board.
**
** board_report.c reads the board and calls the parts in their order: report_words.c writes the
** sentences, report_board.c the leaderboard, the common questions and the attempts,
** report_cost.c costs and latencies, report_pairs.c every pair of models, report_tasks.c the
** tasks, report_votes.c ratings.  They share report_html.c.
** report_style.c and report_script.c are
** the page's CSS and script.
*/
#ifndef EVALCI_REPORT_H
#define EVALCI_REPORT_H

#include "boards.h"
#include "svg.h"

/* Limits: models in pairs and tasks, models in a task's panel, tasks with a panel. */
enum { REPORT_SHOWN = 30, REPORT_PANEL = 12, REPORT_TASKS = 18 };

/* How a model stands: one of the smallest set of models that has the best one with the page's
** level; behind another one, by its rank; neither; or without a rank. */
typedef enum report_stand {
  REPORT_UNKNOWN,
  REPORT_OPEN,
  REPORT_LIKELY,
  REPORT_BEHIND
} report_stand;

/* A model; models are in the order of the leaderboard. */
typedef struct report_model {
  size_t model;
  char *name; /* cleaned, not escaped */
  board_standing s;
  ev_interval ci, bounded; /* bounded where answers are missing */
  ev_place place;
  report_stand stand;
} report_model;

/* Two of the models shown, as indices; the first is probably the better one, by the posterior of
** all models, or where there is none by the two alone. */
typedef struct report_pair {
  size_t first, second;
  double n, diff, sure; /* n is 0 where they have no question in common */
  ev_interval ci;
  bool apart;  /* in order by Holm's method over all pairs */
  bool likely; /* in order by itself */
  bool tied;   /* the same data */
  bool hedged; /* separated unless one sometimes fails outright */
} report_pair;

typedef struct report {
  sqlite3 *db;
  board *board; /* NULL where there are votes alone */
  double level;
  ev_host host;
  ev_status status; /* the first failure, after which nothing is computed */
  sqlite3_str *out;
  const char *title, *note, *date, *source, *database; /* NULL where there is none */
  report_model *models;
  size_t count, ranked, shown; /* all; those with an accuracy, which come first; of those
                                  the ones in pairs and tasks */
  report_pair *pairs;          /* of the models shown, by place */
  char **tasks;                /* names, in their order */
  size_t task_count;
  const board_joint *joint;
  bool placed;          /* there are ranks */
  size_t *favoured;     /* the ranked models by falling probability of being the best, */
  size_t favourites;    /* and how many of them have the best one with the page's level */
  size_t tested, apart; /* pairs with a question in common, and pairs in order */
  double answers, errored, most_questions, least_questions;
  bool graded, repeated;
} report;

/* board_report.c */
bool report_ok(report *r,
               ev_status status); /* stores the first failure; true where there is none */

/* The pair of two of the models shown. */
const report_pair *report_pair_of(const report *r, size_t place, size_t other);

/* report_html.c */
void report_add(report *r, const char *html);
void report_text(report *r, const char *text);              /* escaped */
void report_count(report *r, double n);                     /* 12,345 */
void report_things(report *r, double n, const char *thing); /* 1 model, 2 models */
void report_percent(report *r, double x, int digits);       /* 93% */
void report_chance(report *r, double p);                    /* the same from <1% to >99% */
void report_points(report *r, double x);                    /* +3.2, of differences */
void report_range(report *r, ev_interval ci);               /* 72.1–98.0% */
void report_share(report *r, double x);                     /* 0.5%, with its digits up to six */
void report_level(report *r);                               /* 95% */
const char *report_measure(const report *r);

/* A table: its heading and cells, which keep all digits in data-value; NAN is an empty cell. */
void report_open_table(report *r, const char *id, const char *class);
void report_head(report *r, const char *class, const char *text);
void report_level_head(report *r, const char *class); /* 95% interval */
void report_open_rows(report *r);
void report_close_table(report *r);
void report_name_cell(report *r, const char *class, const char *name);
void report_open_cell(report *r, const char *class, double value);
void report_open_ci_cell(report *r, const char *class, ev_interval ci);
void report_close_cell(report *r);
void report_count_cell(report *r, const char *class, double n);
void report_percent_cell(report *r, const char *class, double x);
void report_ci_cell(report *r, const char *class, ev_interval ci);

/* Shares are in per cent; so are differences, without the sign, and with a line at 0. */
typedef enum report_scale { REPORT_SHARES, REPORT_DIFFERENCES, REPORT_RATINGS } report_scale;

/* An axis of ticks that are 1, 2 or 5 times a power of ten apart. */
typedef struct report_axis {
  double least, step;
  int steps;
  report_scale scale;
} report_axis;

report_axis report_axis_for(double least, double most, report_scale scale);
void report_axis_head(report *r, const char *class, const report_axis *axis);
void report_axis_numbers(report *r, const report_axis *axis);

/* Draws a point and its interval, with a wider interval behind it unless that is NAN; nothing
** where there is no interval. */
void report_plot(report *r, const report_axis *axis, double point, ev_interval ci,
                 ev_interval bounded);
void report_plot_cell(report *r, const report_axis *axis, double point, ev_interval ci);

/* The parts of the page */
void report_summary(report *r);
void report_method(report *r);
void report_leaderboard(report *r);
void report_costs(report *r);
void report_common(report *r);
void report_votes(report *r);
bool report_has_votes(sqlite3 *db); /* a table of votes that may be read */
void report_passes(report *r);
void report_pairs(report *r);
void report_tasks(report *r);

/* Texts, NULL after the last. */
extern const char *const report_style[], *const report_script[];

#endif
