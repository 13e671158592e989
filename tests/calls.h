/*
** Calls of every function of evalci, which oom.c and threads.c repeat: for each function of the
** catalogue every arity and, for aggregates, a window frame; and some chosen ones.
*/
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "catalogue.h"

static const char *const chosen_calls[] = {
    /* other frames, and rows that are left out */
    "SELECT bayes_ci(y) OVER (ORDER BY i GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t",
    "SELECT bayes_ci(y) FILTER (WHERE i > 1) FROM t GROUP BY passage",
    "SELECT hdi_ci(y) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM "
    "t",
    /* numbers as text, keys as blobs, more questions, all that is read at once */
    "SELECT bayes_ci_counts('18', 20.0, '0.9')",
    "SELECT clustered_ci(y, CAST(passage AS BLOB)) OVER (ORDER BY i RANGE 1 PRECEDING) FROM t",
    "SELECT paired_diff_ci_counts(2500, 1000, 900, 600)",
    "SELECT i, method, lo, hi FROM t, ci_methods(k, n, '0.9') WHERE method <> 'hdi'",
    "SELECT method, given_k, given_n, given_level FROM ci_methods(18, '20', 0.9)",
    "SELECT ci_width('[-1e-3, 9e999]'), ci_bar('[-1,2]', 1, 500)",
    "SELECT json_object('ci', wilson_ci_counts(18, 20)), evalci_version()",
    /* clusters enter and leave the frame until vacant entries are removed, and the table grows */
    "WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 70)"
    " SELECT max(length(ci)) FROM (SELECT clustered_clt_ci(i % 2, 'key ' || i)"
    " OVER (ORDER BY i ROWS 1 PRECEDING) AS ci FROM r)",
    /* a pair, a view over a board, a name with its schema, a self-join, boards by task */
    "SELECT diff, ci, p, p_all FROM eval_compare('answers') WHERE model_a = 'another' AND model_b "
    "= 'a model'",
    "SELECT l.model, c.ci FROM eval_leaderboard('main.answers') AS l JOIN eval_compare('answers') "
    "AS c ON c.model_a = l.model",
    "SELECT model, ci, p_best FROM eval_leaderboard('\"answers\"', "
    "'{\"by\":\"task\",\"level\":0.8,\"lo\":0,\"hi\":2}')",
    "SELECT * FROM eval_gate('answers', '{\"errors\":\"skip\"}', 'a model', 'another', 0.5, 0.6)",
    "SELECT * FROM eval_gate('answers', NULL, 0.6, '3')",
    "SELECT *, source, baseline, candidate FROM eval_gate('answers', '{\"errors\":\"skip\"}', "
    "'0.6', "
    "'another') UNION ALL SELECT *, source, baseline, candidate FROM eval_gate('answers', NULL, "
    "0.6, 'a model')",
    /* a question with several attempts, whose attempts are a cluster */
    "SELECT * FROM eval_gate('t', '{\"model\":\"b\",\"item\":\"passage\",\"correct\":\"y\"}', "
    "0.6, '0')",
    /* a pair task by task, questions that are right or wrong, counts */
    "SELECT task, ci, p_bh, shrunken, verdict FROM eval_slices('answers') WHERE model_a = "
    "'another' "
    "AND model_b = 'a model'",
    "SELECT item, ci, item_rest_ci, auc, p_bh, note FROM eval_questions('t', "
    "'{\"model\":\"i\",\"item\":\"passage\",\"correct\":\"a\"}')",
    "SELECT model, ci, rank_lo, p_best FROM eval_leaderboard('counted')",
    /* the posterior of all models; and where nothing joins some of them */
    "SELECT prob_all, diff_all FROM eval_compare('answers')",
    "SELECT rank, rank_note FROM eval_leaderboard('halves')",
    "SELECT * FROM eval_tasks('counted', '{\"k\":\"k\",\"n\":\"n\"}')",
    /* a judge's scores and kappa; without the corrected mean, which takes long */
    "SELECT kappa, kappa_ci, ac1, judged, source FROM eval_judge('t', "
    "'{\"judge\":\"k\",\"truth\":\"n\",\"lo\":0,\"hi\":100}')",
    /* less data than in the calls made from the catalogue, which take long */
    "SELECT bt_ratings(x, y, 1), bt_pairs(x, y, 1) FROM (SELECT 'a' AS x, 'b' AS y)",
    "SELECT kappa_ci(k, n), alpha_ci(k, passage, 0.9, 'ordinal') FROM t WHERE i < 3",
    "SELECT forest_svg(passage, 0.5, NULL) OVER (ORDER BY i ROWS 1 PRECEDING) FROM t",
    "SELECT forest_svg(NULL, 0.5, '[0,1]')",
    "SELECT forest_svg('a', 2, '[0.5,9]', '{\"scale\":\"log\",\"axis\":\"odds \\u00e9\"}') FROM t",
    "SELECT heatmap_svg(passage, i, NULL) OVER (ORDER BY i ROWS 1 PRECEDING) FROM t",
    /* pictures whose rows need more memory, also while their oldest rows leave the frame */
    "WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 40)"
    " SELECT length(forest_svg(i, 0.5, '[0,1]')) FROM r",
    "WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 40)"
    " SELECT max(length(svg)) FROM (SELECT forest_svg(i, 0.5, '[0,1]')"
    " OVER (ORDER BY i ROWS 1 PRECEDING) AS svg FROM r)",

    /* errors, each with its message */
    "SELECT bayes_ci('a result that is none')",
    "SELECT bayes_ci(18, 20)",
    "SELECT clustered_ci(1, NULL)",
    "SELECT cp_ci_counts(20, 18)",
    "SELECT ci_lo('[0.75,0.25]')",
    "SELECT ci_bar('[0,1]', 'there')",
    "SELECT forest_svg('a', 0.5, 'there')",
    "SELECT heatmap_svg('a', 'b', 2)",
    "SELECT heatmap_svg('a', 'b', 0.5, '{\"from\":1}')",
    "SELECT forest_svg('a', 0.5, NULL, '{\"axis\":\"' || passage || '\"}') FROM t",
    "SELECT heatmap_svg('a', 'b', 0.5) FROM t",
    "SELECT * FROM ci_methods(21, 20)",
    "SELECT * FROM ci_methods",
    "SELECT * FROM eval_leaderboard('t')",
    "SELECT * FROM eval_slices('counted')",
    "SELECT * FROM eval_leaderboard('t', '{\"model\":\"i\"}')",
    "SELECT * FROM eval_compare('nowhere', '{\"model\":\"m\"}')",
    "SELECT * FROM eval_gate('answers', NULL, 'another', 'a model that is none')",
    "SELECT * FROM eval_slices('answers') WHERE model_b = 'a modle'",
    "SELECT * FROM eval_tasks('t', '{\"model\":\"passage\",\"item\":\"i\",\"correct\":\"k\"}')",
    "SELECT clustered_ci_counts(400000000, 1000000000) FROM (WITH r(i) AS (SELECT 1 UNION ALL "
    "SELECT"
    " i + 1 FROM r WHERE i < 3) SELECT i FROM r)",
};
enum {
  CHOSEN = sizeof chosen_calls / sizeof *chosen_calls,
  MOST_CALLS = CHOSEN + 2 * CATALOGUE_FUNCTIONS,
  ANSWER = 1 << 17
};

static char *calls[MOST_CALLS];
static int call_count;

static void calls_add(char *sql) {
  if (!sql || call_count == MOST_CALLS) exit(2);
  calls[call_count++] = sql;
}

/* One statement that calls the function at each of its arities. */
static char *calls_of(const function *f, const char *after, const char *from) {
  sqlite3_str *sql = sqlite3_str_new(NULL);
  for (int i = 0; i < f->arity_count; i++) {
    char *call = function_call(f, f->arities[i], NULL);
    sqlite3_str_appendf(sql, "%s%s%s", i ? ", " : "SELECT ", call, after);
    sqlite3_free(call);
  }
  sqlite3_str_appendall(sql, from);
  return sqlite3_str_finish(sql);
}

/* Makes one call, with all arguments and over two rows, of a function that takes milliseconds. */
static void calls_make_slow(const function *f) {
  char *call = function_call(f, f->count, NULL);
  calls_add(
      sqlite3_mprintf("SELECT %s OVER (ORDER BY i ROWS CURRENT ROW) FROM t WHERE i < 3", call));
  sqlite3_free(call);
}

/* Makes the calls: over a frame that rows enter and leave, or a shorter one for slow functions.  A
** table is called with all its arguments.  Functions that take longer than `most` are left out. */
static void calls_make(const catalogue *c, double most) {
  for (int i = 0; i < c->function_count; i++) {
    const function *f = &c->functions[i];
    bool slow = function_is_slow(f);
    if (f->cost > most) continue;
    if (f->cost >= 1000) {
      calls_make_slow(f);
      continue;
    }
    if (f->kind == 't') {
      char *call = function_call(f, f->count, NULL);
      calls_add(sqlite3_mprintf("SELECT * FROM t, %s", call));
      sqlite3_free(call);
    } else {
      calls_add(calls_of(f, "", f->kind == 's' && slow ? " FROM t WHERE i = 1" : " FROM t"));
    }
    if (f->kind != 'a') continue;
    char *call = function_call(f, f->columns, NULL);
    calls_add(sqlite3_mprintf("SELECT %s OVER (ORDER BY i %s", call,
                              slow ? "ROWS CURRENT ROW) FROM t WHERE i < 3"
                                   : "ROWS 1 PRECEDING) FROM t"));
    sqlite3_free(call);
  }
  for (int i = 0; i < CHOSEN; i++) calls_add(sqlite3_mprintf("%s", chosen_calls[i]));
}

static void calls_free(void) {
  while (call_count > 0) sqlite3_free(calls[--call_count]);
}

/* Adds to the answer.  An answer that is too long is an error, because only part of it would be
** compared. */
static void answer_add(char *answer, const char *text) {
  size_t used = strlen(answer);
  if (snprintf(answer + used, ANSWER - used, "%s|", text) < (int)(ANSWER - used)) return;
  fprintf(stderr, "calls: an answer of more than %d bytes\n", ANSWER);
  exit(2);
}

/* Writes every value of every row, as text that is different for different doubles, or the message
** of the error.  Returns the last result code. */
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

#endif
