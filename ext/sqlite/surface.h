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

/* The flags of every function: deterministic and innocuous (contract 5). */
#define EVALCI_FLAGS (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

/* Lets a model ask whether the statement that runs was interrupted. */
ev_host evalci_host_of(sqlite3_context *context);
ev_host evalci_host_of_db(sqlite3 *db);

/*
** args.c: reading arguments.  A reader returns false after leaving a message in the call; the
** owner of the call delivers it.
*/
typedef struct evalci_call {
  const char *name; /* name of the SQL function, which begins every message */
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

/* Text that is a number as a whole counts as that number, because .import and web forms turn
** everything into text (contract 4). */
bool evalci_read_number(sqlite3_value *value, double *number);

/* The point to mark in a drawing of an interval. */
bool evalci_read_point(evalci_call *call, sqlite3_value *value, double *point);

/* A whole number from least to most, both within an int; `name` names it in the
** message. */
bool evalci_read_whole(evalci_call *call, const char *name, sqlite3_value *value, double least,
                       double most, double *number);

/* Reads a count called `name`: a whole number from 0 to 2^53. */
bool evalci_read_count(evalci_call *call, const char *name, sqlite3_value *value, double *count);

/* Reads k and n, each a count, k at most n; the messages use these names. */
bool evalci_read_k_n(evalci_call *call, const char *const *names, sqlite3_value **argv,
                     double *counts);

/* Reads an amount, such as money or time: 0, or a positive number small enough for products. */
bool evalci_amount(sqlite3_value *value, double *amount);
bool evalci_read_amount(evalci_call *call, const char *name, sqlite3_value *value, double *amount);

bool evalci_any_null(int argc, sqlite3_value **argv);

/* near.c: how many letters of a name are wrong if another was meant; 1 if the other contains it. */
int evalci_name_distance(const char *name, const char *other);

/* 0 or 1; EVALCI_NO_RESULT for NULL, EVALCI_BAD_RESULT for anything else. */
enum { EVALCI_NO_RESULT = -1, EVALCI_BAD_RESULT = -2 };
int evalci_read_result(sqlite3_value *value);
/* alone: this is the function's only column, so that the message can show a call. */
bool evalci_fail_result(evalci_call *call, sqlite3_value *value, bool alone);

/* Reads a score that is not NULL: in the range of the options, or any number without them. */
bool evalci_read_score(evalci_call *call, sqlite3_value *value, const ev_options *options,
                       double *score);
bool evalci_read_any_score(evalci_call *call, sqlite3_value *value, double *score);
bool evalci_read_finite(evalci_call *call, const char *name, sqlite3_value *value, double *number);

/* Reads a difference of two scores, given as such; or computed from the scores a and b in argv
** if `both` are not NULL.  Without options any finite numbers are allowed. */
bool evalci_read_difference(evalci_call *call, sqlite3_value *value, const ev_options *options,
                            double *difference);
bool evalci_read_score_difference(evalci_call *call, sqlite3_value **argv,
                                  const ev_options *options, bool *both, double *difference);

/*
** options.c: the optional arguments of functions.
*/

/* In the order in which they are given in a call. */
enum {
  EVALCI_ATTEMPTS = 1 << 0, /* k of pass@k, required */
  EVALCI_LEVEL = 1 << 1,
  EVALCI_MARGIN = 1 << 2,
  EVALCI_BETA = 1 << 3,        /* a, b of a Beta prior */
  EVALCI_ALPHA_BETA = 1 << 13, /* the same for each of two models, whose columns are a and b */
  EVALCI_DIRICHLET = 1 << 14,  /* alpha of a Dirichlet prior with equal weights */
  EVALCI_HIERARCHY = 1 << 4,   /* the prior of the clusters' intraclass correlation, by name */
  EVALCI_RANGE = 1 << 5,       /* lo, hi of the scores */
  EVALCI_LOSS = 1 << 10,       /* a margin, required */
  EVALCI_DIGITS = 1 << 6,
  EVALCI_UNIT = 1 << 7,
  EVALCI_POINT = 1 << 8,
  EVALCI_WIDTH = 1 << 9,
  EVALCI_WEIGHTS = 1 << 11,   /* the weights of disagreements between two raters, by name */
  EVALCI_METRIC = 1 << 12,    /* the metric of Krippendorff's alpha, by name */
  EVALCI_POWER = 1 << 15,     /* the power to plan for, before the level */
  EVALCI_THRESHOLD = 1 << 16, /* the threshold t, required */
  EVALCI_ICC = 1 << 17,       /* not an argument: the hierarchy's prior is 'icc' unless given */
  EVALCI_QUANTILE = 1 << 18,  /* the quantile q, required */
  EVALCI_SURE = 1 << 27,      /* how sure a gate must be, before the power */
  EVALCI_DRAWING = 1 << 20,   /* of a picture, as JSON */
  EVALCI_VOTING = 1 << 21,    /* of ratings, as JSON */
};

/* The names of the values that option `which` of a set takes, NULL after the last;
** NULL when the set has no more.  An option is given whole or not at all, and only
** after those before it; the required ones come first. */
const char *const *evalci_option_names(unsigned options, int which);
bool evalci_option_required(unsigned options, int which);

/* Reads the options that are given; the others have their defaults. */
bool evalci_read_options(evalci_call *call, unsigned options, int argc, sqlite3_value **argv,
                         ev_options *out);

/* Options are the same on every row of a group (contract 7): the first row's are
** kept, and every other's compared. */
bool evalci_same_options(evalci_call *call, unsigned options, int argc, sqlite3_value **argv,
                         bool first, ev_options *kept);

/* The text of an argument that must be the same on every row of a group, as JSON options are. */
typedef struct evalci_kept_text {
  char *text; /* sqlite3_malloc'ed; NULL where not given */
  int size;
} evalci_kept_text;

/* Copies the text; false without memory. */
bool evalci_keep_text(evalci_kept_text *kept, sqlite3_value *value);

/* Whether the options of another row have the same text (contract 7); false after leaving a
** message, or without memory. */
bool evalci_same_text(evalci_call *call, const evalci_kept_text *kept, sqlite3_value *options);

/*
** A hash of bytes, by FNV-1a (Fowler, Noll and Vo): begin with EVALCI_HASH, add bytes.
*/
static const sqlite3_uint64 EVALCI_HASH = 0xcbf29ce484222325u;

static inline sqlite3_uint64 evalci_hash_bytes(sqlite3_uint64 hash, const void *bytes,
                                               size_t size) {
  const unsigned char *c = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ c[i]) * 0x100000001b3u;
  return hash;
}

/*
** number.c: a number as text, and back.
*/
enum { EVALCI_NUMBER_SIZE = 32 };

/* Writes the shortest decimal that reads back as the same double, as JSON; infinity is 9e999.
** Returns its length. */
int evalci_write_number(double x, char text[EVALCI_NUMBER_SIZE]);

/* Reads one JSON number; returns what follows it, or NULL if there is none. */
const char *evalci_parse_number(const char *text, double *number);

/* Skips JSON white space. */
const char *evalci_skip_space(const char *text);

/*
** interval.c: an interval as text, and back.
*/

/* Delivers the interval that a model of the function `name` gave, or an error. */
void evalci_result_interval(sqlite3_context *context, const char *name, ev_status status,
                            ev_interval ci);
bool evalci_read_interval(evalci_call *call, sqlite3_value *value, ev_interval *ci);

/* reading.c: delivers ci_bar(ci, point) in its default width. */
void evalci_result_bar(sqlite3_context *context, ev_interval ci, double point);

/*
** json.c: JSON that is more than an interval.
*/

/* Appends ,"name":x to an object that already has a member. */
void evalci_append_member(sqlite3_str *out, const char *name, double x);

/* Finishes the text, and delivers it marked as JSON. */
void evalci_result_json(sqlite3_context *context, sqlite3_str *out);

/*
** status.c: failures of models.
*/

/* Delivers the error of a status; true when there is none. */
bool evalci_check_status(sqlite3_context *context, const char *name, ev_status status);
void evalci_result_probability(sqlite3_context *context, const char *name, ev_status status,
                               double p);

/* agreement.c: more different ratings are an error. */
enum { EVALCI_MOST_CATEGORIES = 50 };

#endif
