/*
** Calls of every function of evalci, for tests that repeat them under some
** hardship: what oom.c and threads.c run.
**
** A function that is registered and not called here fails calls_missing(), so
** that a new one is not forgotten.
*/
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "functions.h"

/* The results of a few models, with what CSV imports make of numbers and a NULL. */
static const char calls_table[] =
    "CREATE TABLE t(i INTEGER PRIMARY KEY, y, a, b, passage TEXT, k, n);"
    "INSERT INTO t VALUES (1, 1, 1, 0, 'first', 3, 4), (2, '0', 0, 0, 'first', 0, 2),"
    "                     (3, 1.0, 1, 1, 'second', 5, 5), (4, NULL, 1, NULL, 'third', NULL, 1),"
    "                     (5, 0, 0, 1, 'a passage with a name of some length', 1, 7);";

/* A frame that rows enter and leave; and a shorter one for what takes milliseconds
** a frame. */
#define SLIDING " OVER (ORDER BY i ROWS 1 PRECEDING) FROM t"
#define SLIDING_TWICE " OVER (ORDER BY i ROWS CURRENT ROW) FROM t WHERE i < 3"

static const char *const calls[] = {
    "SELECT bayes_ci(y), bayes_ci(y, 0.9), bayes_ci(y, 0.9, 0.5, 2) FROM t",
    "SELECT bayes_ci(y) OVER (ORDER BY i GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t",
    "SELECT bayes_ci(y) FILTER (WHERE i > 1) FROM t GROUP BY passage",
    "SELECT bayes_ci_counts(18, 20), bayes_ci_counts('18', 20.0, '0.9'),"
    " bayes_ci_counts(18, 20, 0.9, 0.5, 2)",
    "SELECT hdi_ci(y), hdi_ci(y, 0.9), hdi_ci(y, 0.9, 0.5, 2) FROM t",
    "SELECT hdi_ci(y) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM "
    "t",
    "SELECT hdi_ci_counts(k, n), hdi_ci_counts(k, n, 0.9), hdi_ci_counts(k, n, 0.9, 3, 2) FROM t",
    "SELECT wilson_ci(y), wilson_ci(y, 0.9) FROM t",
    "SELECT wilson_ci(y)" SLIDING,
    "SELECT wilson_ci_counts(k, n), wilson_ci_counts(k, n, 0.9) FROM t",
    "SELECT cp_ci(y), cp_ci(y, 0.9) FROM t",
    "SELECT cp_ci(y)" SLIDING,
    "SELECT cp_ci_counts(k, n), cp_ci_counts(k, n, 0.9) FROM t",
    "SELECT clt_ci(y), clt_ci(y, 0.9) FROM t",
    "SELECT clt_ci(y)" SLIDING,
    "SELECT clt_ci_counts(k, n), clt_ci_counts(k, n, 0.9) FROM t",

    "SELECT clustered_ci(y, passage), clustered_ci(y, passage, 0.9) FROM t",
    "SELECT clustered_ci(y, passage)" SLIDING,
    "SELECT clustered_ci(y, CAST(passage AS BLOB)) OVER (ORDER BY i RANGE 1 PRECEDING) FROM t",
    "SELECT clustered_ci_counts(k, n), clustered_ci_counts(k, n, 0.9) FROM t",
    "SELECT clustered_ci_counts(k, n)" SLIDING,
    "SELECT clustered_clt_ci(y, passage), clustered_clt_ci(y, passage, 0.9) FROM t",
    /* clusters that come and go until the dead are swept, and the table grows */
    "WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 70)"
    " SELECT max(length(ci)) FROM (SELECT clustered_clt_ci(i % 2, 'key ' || i)"
    " OVER (ORDER BY i ROWS 1 PRECEDING) AS ci FROM r)",
    "SELECT clustered_clt_ci_counts(k, n), clustered_clt_ci_counts(k, n, 0.9) FROM t",
    "SELECT clustered_clt_ci_counts(k, n)" SLIDING,

    "SELECT prob_better(a, b) FROM t",
    "SELECT prob_better(a, b)" SLIDING,
    "SELECT prob_better_counts(18, 20, 12, 20)",
    "SELECT diff_ci(a, b), diff_ci(a, b, 0.9) FROM t",
    "SELECT diff_ci(a, b)" SLIDING_TWICE,
    "SELECT diff_ci_counts(18, 20, 12, 20), diff_ci_counts(18, 20, 12, 20, 0.9)",
    "SELECT odds_ratio_ci(a, b), odds_ratio_ci(a, b, 0.9) FROM t",
    "SELECT odds_ratio_ci(a, b)" SLIDING_TWICE,
    "SELECT odds_ratio_ci_counts(18, 20, 12, 20), odds_ratio_ci_counts(18, 20, 12, 20, 0.9)",
    "SELECT fisher_or_ci(a, b), fisher_or_ci(a, b, 0.9) FROM t",
    "SELECT fisher_or_ci(a, b)" SLIDING,
    "SELECT fisher_or_ci_counts(18, 20, 12, 20), fisher_or_ci_counts(18, 20, 12, 20, 0.9)",
    "SELECT diff_clt_ci(a, b), diff_clt_ci(a, b, 0.9) FROM t",
    "SELECT diff_clt_ci(a, b)" SLIDING,
    "SELECT diff_clt_ci_counts(18, 20, 12, 20), diff_clt_ci_counts(18, 20, 12, 20, 0.9)",

    "SELECT paired_diff_ci(a, b), paired_diff_ci(a, b, 0.9) FROM t",
    "SELECT paired_diff_ci(a, b)" SLIDING_TWICE,
    "SELECT paired_diff_ci_counts(2500, 1000, 900, 600), paired_diff_ci_counts(53, 16, 8, 9, 0.9)",
    "SELECT paired_prob_better(a, b) FROM t WHERE i > 1",
    "SELECT paired_prob_better(a, b)" SLIDING_TWICE,
    "SELECT paired_prob_better_counts(53, 16, 8, 9)",
    "SELECT paired_diff_clt_ci(a, b), paired_diff_clt_ci(a, b, 0.9) FROM t",
    "SELECT paired_diff_clt_ci(a, b)" SLIDING,
    "SELECT paired_diff_clt_ci_counts(12, 6, 0, 2), paired_diff_clt_ci_counts(12, 6, 0, 2, 0.9)",

    "SELECT f1_ci(a, b), f1_ci(a, b, 0.9) FROM t",
    "SELECT f1_ci(a, b)" SLIDING,
    "SELECT f1_ci_counts(9, 2, 3), f1_ci_counts(9, 2, 3, 0.9)",
    "SELECT precision_ci(a, b), precision_ci(a, b, 0.9) FROM t",
    "SELECT precision_ci(a, b)" SLIDING,
    "SELECT precision_ci_counts(9, 2), precision_ci_counts(9, 2, 0.9)",
    "SELECT recall_ci(a, b), recall_ci(a, b, 0.9) FROM t",
    "SELECT recall_ci(a, b)" SLIDING,
    "SELECT recall_ci_counts(9, 3), recall_ci_counts(9, 3, 0.9)",

    "SELECT method, lo, hi, given_k FROM ci_methods(18, 20)",
    "SELECT i, method, lo, hi FROM t, ci_methods(k, n, '0.9') WHERE method <> 'hdi'",
    "SELECT ci_lo('[0.25,0.75]'), ci_hi(wilson_ci_counts(18, 20)), ci_width('[-1e-3, 9e999]')",
    "SELECT ci_text('[0.25,0.75]'), ci_text(wilson_ci_counts(k, n), 3) FROM t",
    "SELECT ci_bar('[0.25,0.75]'), ci_bar(wilson_ci_counts(k, n), 0.5), ci_bar('[-1,2]', 1, 500) "
    "FROM t",
    "SELECT forest_svg(passage, k * 1.0 / n, wilson_ci_counts(k, n)) FROM t",
    "SELECT forest_svg(passage, 0.5, NULL)" SLIDING,
    "SELECT forest_svg(NULL, 0.5, '[0,1]')",
    "SELECT heatmap_svg(passage, i, 0.5) FROM t",
    "SELECT heatmap_svg(passage, i, NULL)" SLIDING,
    /* pictures that grow, while the oldest of their rows leave */
    "WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 40)"
    " SELECT max(length(svg)) FROM (SELECT forest_svg(i, 0.5, '[0,1]')"
    " OVER (ORDER BY i ROWS 1 PRECEDING) AS svg FROM r)",
    "SELECT json_object('ci', wilson_ci_counts(18, 20)), evalci_version()",

    /* what is refused stays refused, with its message */
    "SELECT bayes_ci('a result that is none')",
    "SELECT bayes_ci(18, 20)",
    "SELECT clustered_ci(1, NULL)",
    "SELECT cp_ci_counts(20, 18)",
    "SELECT ci_lo('[0.75,0.25]')",
    "SELECT ci_bar('[0,1]', 'there')",
    "SELECT forest_svg('a', 0.5, 'there')",
    "SELECT heatmap_svg('a', 'b', 2)",
    "SELECT heatmap_svg('a', 'b', 0.5) FROM t",
    "SELECT * FROM ci_methods(21, 20)",
    "SELECT * FROM ci_methods",
    "SELECT clustered_ci_counts(400000000, 1000000000) FROM (WITH r(i) AS (SELECT 1 UNION ALL "
    "SELECT"
    " i + 1 FROM r WHERE i < 3) SELECT i FROM r)",
};
enum { CALLS = sizeof calls / sizeof *calls, ANSWER = 1 << 14 };

/* Adds to the answer, which is never so long. */
static void answer_add(char *answer, const char *text) {
  size_t used = strlen(answer);
  snprintf(answer + used, ANSWER - used, "%s|", text);
}

/* Every value of every row, as text that tells two doubles apart; or the message
** of the error.  Returns the code that ended it. */
static int calls_answer(sqlite3 *db, const char *sql, char answer[ANSWER]) {
  sqlite3_stmt *statement = NULL;
  answer[0] = 0;
  int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  while (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
    rc = SQLITE_OK;
    for (int i = 0; i < sqlite3_column_count(statement) && rc == SQLITE_OK; i++) {
      int type = sqlite3_column_type(statement, i);
      char number[40];
      const char *text = number;
      if (type == SQLITE_FLOAT)
        snprintf(number, sizeof number, "%.17g", sqlite3_column_double(statement, i));
      else if (type == SQLITE_NULL)
        text = "NULL";
      else if (!(text = (const char *)sqlite3_column_text(statement, i)))
        rc = SQLITE_NOMEM;
      if (text) answer_add(answer, text);
    }
  }
  if (rc != SQLITE_DONE && rc != SQLITE_NOMEM) answer_add(answer, sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  return rc;
}

static bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether a statement calls the function with so many arguments. */
static bool calls_with(const char *sql, const char *name, int arity) {
  size_t length = strlen(name);
  for (const char *at = sql; (at = strstr(at, name)); at += length) {
    if ((at > sql && in_name(at[-1])) || at[length] != '(') continue;
    int depth = 1, arguments = at[length + 1] != ')';
    bool quoted = false;
    for (const char *c = at + length + 1; *c && depth > 0; c++) {
      if (*c == '\'') quoted = !quoted;
      if (quoted) continue;
      depth += (*c == '(') - (*c == ')');
      arguments += *c == ',' && depth == 1;
    }
    if (arguments == arity) return true;
  }
  return false;
}

/* How many functions are called nowhere; each is named. */
static int calls_missing(sqlite3 *db) {
  sqlite3_stmt *list = NULL;
  int missing = 0, listed = 0;
  if (sqlite3_prepare_v2(db, EVALCI_FUNCTIONS, -1, &list, NULL) != SQLITE_OK) return 1;
  for (; sqlite3_step(list) == SQLITE_ROW; listed++) {
    const char *name = (const char *)sqlite3_column_text(list, 0);
    int arity = sqlite3_column_int(list, 1);
    bool found = false;
    for (int i = 0; i < CALLS && !found; i++) found = calls_with(calls[i], name, arity);
    if (found) continue;
    printf("FAILED %s with %d arguments is called nowhere in tests/calls.h\n", name, arity);
    missing++;
  }
  sqlite3_finalize(list);
  return listed ? missing : 1;
}

#endif
