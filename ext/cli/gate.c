/*
** evalci gate: may the candidate replace the baseline, or does it reach an accuracy?
**
** This is the only verb whose exit status is a result: 0 pass, 1 fail, 2 unsure.  Every error
** ends with 3.
*/
#include <string.h>

#include "cli.h"

static const char gate_sql[] =
    "SELECT result, message, baseline, candidate, margin, sure, diff, lo, hi, prob, questions, "
    "errored_baseline, errored_candidate, more, method, accuracy_baseline, accuracy_candidate "
    "FROM eval_gate(?1, ?2, ?3, ?4, ?5, ?6)";
enum { GATE_QUESTIONS = 10 }; /* index of a column of gate_sql */

static bool check_gate(const cli *c) {
  double x;
  const char *as = "as in evalci gate evals.db --baseline old --candidate new";
  if (!c->values[CLI_CANDIDATE])
    cli_fail(c, "--candidate must name a model, got none; %s", as);
  else if (!c->values[CLI_BASELINE] && !c->values[CLI_MIN])
    cli_fail(c, "--baseline must name a model, or --min an accuracy, got neither; %s", as);
  else if (c->values[CLI_BASELINE] && c->values[CLI_MIN])
    cli_fail(c, "--baseline and --min must not both be given; they are two gates");
  else if (c->values[CLI_MIN] && c->values[CLI_MARGIN])
    cli_fail(c, "--margin must not be given with --min; lower --min instead");
  else
    return cli_number(c, CLI_MIN, 0, &x) && cli_number(c, CLI_MARGIN, 0, &x) &&
           cli_number(c, CLI_SURE, 0, &x);
  return false;
}

static bool bind_gate(const cli *c, sqlite3_stmt *asked) {
  double min, margin, sure;
  if (!cli_number(c, CLI_MIN, 0, &min) || !cli_number(c, CLI_MARGIN, 0.02, &margin) ||
      !cli_number(c, CLI_SURE, 0.95, &sure))
    return false;
  int rc = c->values[CLI_MIN]
               ? sqlite3_bind_double(asked, 3, min)
               : sqlite3_bind_text(asked, 3, c->values[CLI_BASELINE], -1, SQLITE_STATIC);
  if (rc == SQLITE_OK)
    rc = sqlite3_bind_text(asked, 4, c->values[CLI_CANDIDATE], -1, SQLITE_STATIC);
  if (rc == SQLITE_OK) rc = sqlite3_bind_double(asked, 5, margin);
  if (rc == SQLITE_OK) rc = sqlite3_bind_double(asked, 6, sure);
  if (rc != SQLITE_OK) cli_fail_memory(c);
  return rc == SQLITE_OK;
}

static int status_of(const char *result) {
  if (strcmp(result, "pass") == 0) return CLI_OK;
  if (strcmp(result, "fail") == 0) return CLI_GATE_FAILS;
  return strcmp(result, "unsure") == 0 ? CLI_GATE_UNSURE : CLI_ERROR;
}

/* Prints the message, wrapped on a terminal. */
static void put_message(const char *message) {
  if (cli_is_terminal(stdout)) {
    cli_put_wrapped(stdout, message, 0, cli_columns(stdout));
  } else {
    cli_put_clean(stdout, message);
    putchar('\n');
  }
}

/* Two files with one model each: the usual reason why nothing can be compared. */
static void put_advice(const cli *c, sqlite3_stmt *asked) {
  if (c->values[CLI_QUIET] || sqlite3_column_double(asked, GATE_QUESTIONS) > 0) return;
  cli_put_wrapped(stdout, CLI_TASK_ADVICE, 0, cli_columns(stdout));
}

static int put_judgement(const cli *c, const cli_results *r, sqlite3_stmt *asked) {
  if (sqlite3_step(asked) != SQLITE_ROW) return cli_fail_results(c, r);
  const char *result = (const char *)sqlite3_column_text(asked, 0);
  const char *message = (const char *)sqlite3_column_text(asked, 1);
  if (!result || !message) return cli_fail_memory(c);
  if (c->values[CLI_JSON]) {
    cli_put_json(asked);
    putchar('\n');
  } else {
    put_message(message);
    put_advice(c, asked);
  }
  return status_of(result);
}

int cli_run_gate(cli *c) {
  cli_results r;
  if (!check_gate(c) || !cli_open_results(c, c->names, c->count, &r)) return CLI_ERROR;
  sqlite3_stmt *asked = cli_ask(c, &r, gate_sql);
  int status = asked && bind_gate(c, asked) ? put_judgement(c, &r, asked) : CLI_ERROR;
  sqlite3_finalize(asked);
  cli_close_results(&r);
  return status;
}
