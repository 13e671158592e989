/*
** evalci plan: how many questions, in words.
*/
#include <string.h>

#include "cli.h"

/* Reads one number from SQL; false after printing an error. */
static bool ask_number(const cli *c, sqlite3 *db, const char *sql, const double *x, int count,
                       double *out) {
  sqlite3_stmt *asked = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &asked, NULL);
  for (int i = 0; i < count && rc == SQLITE_OK; i++) rc = sqlite3_bind_double(asked, i + 1, x[i]);
  if (rc == SQLITE_OK) rc = sqlite3_step(asked);
  if (rc == SQLITE_ROW)
    *out = sqlite3_column_double(asked, 0);
  else
    cli_fail(c, "%s", sqlite3_errmsg(db));
  sqlite3_finalize(asked);
  return rc == SQLITE_ROW;
}

/* A number of questions with commas. */
static void put_count(double n) {
  char *text = sqlite3_mprintf("%,lld", (sqlite3_int64)n);
  if (text) printf("%9s questions", text);
  sqlite3_free(text);
}

static bool read_accuracy(const cli *c, const char *text, double *out) {
  if (cli_read_number(text, out) && *out >= 0 && *out <= 1) return true;
  cli_fail(c, "an accuracy must be from 0 to 1, got '%s'; as in evalci plan 0.80 0.85", text);
  return false;
}

typedef struct cli_plan {
  sqlite3 *db;
  double power, level;
} cli_plan;

/* Questions and attempts at each, the cheapest that are enough. */
static int plan_runs(const cli *c, const cli_plan *p, double accuracy, double width) {
  double icc, question, attempt, plan[3];
  static const char *const sql[] = {
      "SELECT json_extract(plan_runs(?1, ?2, ?3, ?4, ?5, ?6), '$.questions')",
      "SELECT json_extract(plan_runs(?1, ?2, ?3, ?4, ?5, ?6), '$.attempts')",
      "SELECT json_extract(plan_runs(?1, ?2, ?3, ?4, ?5, ?6), '$.cost')"};
  if (!c->values[CLI_ICC] || !c->values[CLI_COST_QUESTION] || !c->values[CLI_COST_ATTEMPT])
    return cli_fail(c, "--icc, --cost-question and --cost-attempt must be given together, as in "
                       "--icc 0.5 --cost-question 1 --cost-attempt 0.2");
  if (!cli_number(c, CLI_ICC, 0, &icc) || !cli_number(c, CLI_COST_QUESTION, 0, &question) ||
      !cli_number(c, CLI_COST_ATTEMPT, 0, &attempt))
    return CLI_ERROR;
  double x[] = {accuracy, width, icc, question, attempt, p->level};
  for (int i = 0; i < 3; i++)
    if (!ask_number(c, p->db, sql[i], x, 6, &plan[i])) return CLI_ERROR;
  printf("For a %.10g%% interval that is %.10g points wide, around an accuracy of %.10g,\n"
         "if %.3g%% of an answer's variance comes from the question:\n",
         100 * p->level, 100 * width, accuracy, 100 * icc);
  put_count(plan[0]);
  printf(", %.0f attempt%s at each, at a cost of %.10g\n", plan[1], plan[1] == 1 ? "" : "s",
         plan[2]);
  return CLI_OK;
}

static int plan_width(const cli *c, const cli_plan *p, double accuracy) {
  double width, n;
  if (!cli_number(c, CLI_WIDTH, 0, &width)) return CLI_ERROR;
  if (c->values[CLI_ICC] || c->values[CLI_COST_QUESTION] || c->values[CLI_COST_ATTEMPT])
    return plan_runs(c, p, accuracy, width);
  if (!ask_number(c, p->db, "SELECT plan_n(?1, ?2, ?3)", (double[]){accuracy, width, p->level}, 3,
                  &n))
    return CLI_ERROR;
  printf("For a %.10g%% interval that is %.10g points wide, around an accuracy of %.10g:\n",
         100 * p->level, 100 * width, accuracy);
  put_count(n);
  putchar('\n');
  return CLI_OK;
}

/* For evalci gate --min; and below which number no result can pass. */
static int plan_gate(const cli *c, const cli_plan *p, double accuracy) {
  double least, sure, n, none;
  if (!cli_number(c, CLI_MIN, 0, &least) || !cli_number(c, CLI_SURE, 0.95, &sure) ||
      !ask_number(c, p->db, "SELECT plan_gate_n(?1, ?2, ?3, ?4)",
                  (double[]){accuracy, least, sure, p->power}, 4, &n) ||
      !ask_number(c, p->db, "SELECT plan_gate_n(1, ?1, ?2)", (double[]){least, sure}, 2, &none))
    return CLI_ERROR;
  printf("For a model of accuracy %.10g to pass --min %.10g with power %.10g, %.10g%% sure:\n",
         accuracy, least, p->power, 100 * sure);
  put_count(n);
  printf("; with fewer than %.0f, not even all right would pass\n", none);
  return CLI_OK;
}

/* Both models on the same questions, if they disagree on this share of them. */
static int plan_same(const cli *c, const cli_plan *p, double diff, double disagree,
                     const char *why) {
  double n, only[] = {(disagree + diff) / 2, (disagree - diff) / 2, p->power, p->level};
  if (only[1] < 0)
    return cli_fail(c, "--disagree must be at least the difference %.10g, got %.10g", diff,
                    disagree);
  if (!ask_number(c, p->db, "SELECT plan_paired_n(?1, ?2, ?3, ?4)", only, 4, &n)) return CLI_ERROR;
  put_count(n);
  printf(" for both, if they disagree on %.3g%% of them%s\n", 100 * disagree, why);
  return CLI_OK;
}

static int plan_difference(const cli *c, const cli_plan *p, double a, double b) {
  double n, disagree, diff = a > b ? a - b : b - a;
  if (!cli_number(c, CLI_DISAGREE, 0, &disagree)) return CLI_ERROR;
  if (!ask_number(c, p->db, "SELECT plan_diff_n(?1, ?2, ?3, ?4)",
                  (double[]){a, b, p->power, p->level}, 4, &n))
    return CLI_ERROR;
  printf("To tell an accuracy of %.10g from %.10g, with power %.10g, at level %.10g:\n", a, b,
         p->power, p->level);
  put_count(n);
  printf(" for each model, if they get different questions\n");
  int status = plan_same(c, p, diff, a * (1 - b) + b * (1 - a), " (unrelated errors)");
  if (status != CLI_OK || !c->values[CLI_DISAGREE]) return status;
  return plan_same(c, p, diff, disagree, "");
}

static int plan_found(const cli *c, const cli_plan *p) {
  double n, disagree, diff;
  if (!cli_number(c, CLI_QUESTIONS, 0, &n) || !cli_number(c, CLI_DISAGREE, 0.2, &disagree) ||
      !ask_number(c, p->db, "SELECT detectable_diff(?1, ?2, ?3, ?4)",
                  (double[]){(double)(sqlite3_int64)n, disagree, p->power, p->level}, 4, &diff))
    return CLI_ERROR;
  printf("%.0f questions, if the two models disagree on %.3g%% of them, find a difference of\n"
         "%.1f points, with power %.10g, at level %.10g.\n",
         n, 100 * disagree, 100 * diff, p->power, p->level);
  if (!c->values[CLI_DISAGREE] && !c->values[CLI_QUIET])
    printf("20%% is a guess; give the real share by --disagree.\n");
  return CLI_OK;
}

static int plan_given(const cli *c, const cli_plan *p) {
  double a = 0, b = 0;
  if (c->values[CLI_QUESTIONS] && c->count == 0) return plan_found(c, p);
  if ((c->count > 0 && !read_accuracy(c, c->names[0], &a)) ||
      (c->count > 1 && !read_accuracy(c, c->names[1], &b)))
    return CLI_ERROR;
  if (c->count == 1 && c->values[CLI_WIDTH]) return plan_width(c, p, a);
  if (c->count == 1 && c->values[CLI_MIN]) return plan_gate(c, p, a);
  if (c->count == 2 && !c->values[CLI_WIDTH]) return plan_difference(c, p, a, b);
  return cli_fail(c, "an accuracy and --width or --min must be given, or two accuracies, or "
                     "--questions; "
                     "as in evalci plan 0.80 0.85");
}

int cli_run_plan(cli *c) {
  cli_plan p = {0};
  if (!cli_number(c, CLI_POWER, 0.8, &p.power) || !cli_number(c, CLI_LEVEL, 0.95, &p.level))
    return CLI_ERROR;
  p.db = cli_connect(c, NULL);
  if (!p.db) return CLI_ERROR;
  int status = plan_given(c, &p);
  sqlite3_close(p.db);
  return status;
}
