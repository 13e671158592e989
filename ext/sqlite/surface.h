/*
** Private to ext/sqlite: what the files of the SQL surface share.
**
** Data flows one way: rows -> counts -> model (ext/stats) -> interval -> text.
** No file here contains a formula.  "Contract N" in a comment is promise N of
** ext/CONTRACT.md.
*/
#ifndef EVALCI_SURFACE_H
#define EVALCI_SURFACE_H

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3ext.h>

#include "../stats/model.h"

#ifndef SQLITE_CORE
extern const sqlite3_api_routines *sqlite3_api;
#endif

/*
** host.c: what depends on which SQLite runs the extension.
*/

/* Window functions came with 3.25. */
enum { EVALCI_OLDEST_HOST = 3025000 };

/* SQLite 3.45; older hosts mask flags they do not know. */
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

/* What every function is: the same answer to the same question, and harmless
** (contract 5). */
#define EVALCI_FLAGS (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

/* Lets a model ask whether the statement that runs was interrupted. */
ev_host evalci_host_of(sqlite3_context *context);
ev_host evalci_host_of_db(sqlite3 *db);

/*
** args.c: reading arguments.  A reader returns false after leaving a message
** in the call; whoever owns the call delivers it.
*/
typedef struct evalci_call {
  const char *name; /* of the SQL function, which opens every message */
  char *message;    /* sqlite3_malloc'ed; NULL after a failure means no memory */
} evalci_call;

/* The call of the function that runs. */
evalci_call evalci_call_of(sqlite3_context *context);
bool evalci_fail(evalci_call *call, const char *format, ...);
void evalci_report(sqlite3_context *context, evalci_call *call);

/* A value as an error message shows it, on the stack. */
typedef struct evalci_shown {
  char text[80];
} evalci_shown;
evalci_shown evalci_show(sqlite3_value *value);

/* Text that is wholly a number counts as one, because .import and web forms
** make text of everything (contract 4). */
bool evalci_read_number(sqlite3_value *value, double *number);

/* The point to mark in a drawing of an interval. */
bool evalci_read_point(evalci_call *call, sqlite3_value *value, double *point);

/* A whole number from least to most, both within an int; `name` names it in the
** message. */
bool evalci_read_whole(evalci_call *call, const char *name, sqlite3_value *value, double least,
                       double most, double *number);

/* A count of `name`: a whole number from 0 to 2^53. */
bool evalci_read_count(evalci_call *call, const char *name, sqlite3_value *value, double *count);

/* k and n, each a count, k at most n; named so in messages. */
bool evalci_read_k_n(evalci_call *call, const char *const *names, sqlite3_value **argv,
                     double *counts);

/* An amount, as of money or time: 0, or a positive number that leaves room for products. */
bool evalci_amount(sqlite3_value *value, double *amount);
bool evalci_read_amount(evalci_call *call, const char *name, sqlite3_value *value, double *amount);

bool evalci_any_null(int argc, sqlite3_value **argv);

/* 0 or 1; EVALCI_NO_RESULT for NULL, EVALCI_BAD_RESULT for anything else. */
enum { EVALCI_NO_RESULT = -1, EVALCI_BAD_RESULT = -2 };
int evalci_read_result(sqlite3_value *value);
/* alone: the function's only column, so that a call can be shown. */
bool evalci_fail_result(evalci_call *call, sqlite3_value *value, bool alone);

/* A score that is not NULL: within the range of the options, or any number. */
bool evalci_read_score(evalci_call *call, sqlite3_value *value, const ev_options *options,
                       double *score);
bool evalci_read_any_score(evalci_call *call, sqlite3_value *value, double *score);
bool evalci_read_finite(evalci_call *call, const char *name, sqlite3_value *value, double *number);

/* A difference of two scores of the range, given as such; or made of the scores a and
** b in argv, if `both` are not NULL.  Without options, of any finite numbers. */
bool evalci_read_difference(evalci_call *call, sqlite3_value *value, const ev_options *options,
                            double *difference);
bool evalci_read_score_difference(evalci_call *call, sqlite3_value **argv,
                                  const ev_options *options, bool *both, double *difference);

/*
** options.c: the arguments that may follow those a function must have.
*/

/* In the order in which they are given. */
enum {
  EVALCI_ATTEMPTS = 1 << 0, /* k of pass@k, which must be given */
  EVALCI_LEVEL = 1 << 1,
  EVALCI_MARGIN = 1 << 2,
  EVALCI_BETA = 1 << 3,      /* a, b of a Beta prior */
  EVALCI_HIERARCHY = 1 << 4, /* the prior of the clusters' likeness, by its name */
  EVALCI_RANGE = 1 << 5,     /* lo, hi of the scores */
  EVALCI_LOSS = 1 << 10,     /* a margin that must be given */
  EVALCI_DIGITS = 1 << 6,
  EVALCI_UNIT = 1 << 7,
  EVALCI_POINT = 1 << 8,
  EVALCI_WIDTH = 1 << 9,
  EVALCI_POWER = 1 << 15,     /* that is planned for, before the level */
  EVALCI_THRESHOLD = 1 << 16, /* t to exceed, which must be given */
  EVALCI_ICC = 1 << 17,       /* no option: the hierarchy's prior is 'icc' unless given */
  EVALCI_QUANTILE = 1 << 18,  /* q, which must be given */
  EVALCI_DRAWING = 1 << 20,   /* of a picture, as JSON */
};

/* The names of the values that option `which` of a set takes, NULL after the last;
** NULL when the set has no more.  An option is given whole or not at all, and only
** after those before it; the required ones come first. */
const char *const *evalci_option_names(unsigned options, int which);
bool evalci_option_required(unsigned options, int which);

/* Of a model's options those that are given, and the rest by their defaults. */
bool evalci_read_options(evalci_call *call, unsigned options, int argc, sqlite3_value **argv,
                         ev_options *out);

/* Options are the same on every row of a group (contract 7): the first row's are
** kept, and every other's compared. */
bool evalci_same_options(evalci_call *call, unsigned options, int argc, sqlite3_value **argv,
                         bool first, ev_options *kept);

/*
** number.c: a number as text, and back.
*/
enum { EVALCI_NUMBER_SIZE = 32 };

/* Writes the shortest decimal that reads back as the same double, as JSON;
** infinity as 9e999.  Returns its length. */
int evalci_write_number(double x, char text[EVALCI_NUMBER_SIZE]);

/* Reads one JSON number; returns what follows it, or NULL when there is none. */
const char *evalci_parse_number(const char *text, double *number);

/* What follows the white space that JSON has. */
const char *evalci_skip_space(const char *text);

/*
** interval.c: an interval as text, and back.
*/

/* What a model of the function `name` gave: the interval, or an error. */
void evalci_result_interval(sqlite3_context *context, const char *name, ev_status status,
                            ev_interval ci);
bool evalci_read_interval(evalci_call *call, sqlite3_value *value, ev_interval *ci);

/* reading.c: delivers ci_bar(ci, point), of its usual width. */
void evalci_result_bar(sqlite3_context *context, ev_interval ci, double point);

/*
** json.c: JSON that is more than an interval.
*/

/* Appends ,"name":x to an object that has a member already. */
void evalci_append_member(sqlite3_str *out, const char *name, double x);

/* Finishes the text, and delivers it marked as JSON. */
void evalci_result_json(sqlite3_context *context, sqlite3_str *out);

/*
** status.c: what a model could not compute.
*/

/* Delivers the error that a status is; true when it is none. */
bool evalci_check_status(sqlite3_context *context, const char *name, ev_status status);
void evalci_result_probability(sqlite3_context *context, const char *name, ev_status status,
                               double p);

#endif
