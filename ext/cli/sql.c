/*
** evalci sql: one SELECT of the user's own over the results.  Statements that write, attach a
** file or load something are refused.
*/
#include <string.h>

#include "cli.h"

/* Pragmas about tables, which change nothing. */
static bool is_harmless_pragma(const char *name) {
  static const char *const names[] = {
      "table_info",    "table_xinfo", "table_list",  "index_list",      "index_info",
      "function_list", "module_list", "pragma_list", "compile_options", "database_list"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (sqlite3_stricmp(name, names[i]) == 0) return true;
  return false;
}

/* Functions that run code of a file, or that read and write addresses in memory. */
static bool is_harmful_function(const char *name) {
  return sqlite3_stricmp(name, "load_extension") == 0 ||
         sqlite3_stricmp(name, "fts3_tokenizer") == 0;
}

/* Refuses what reaches beyond the results without reading a table; writing is refused by
** sqlite3_stmt_readonly(). */
static int allow_reading(void *unused, int action, const char *first, const char *second,
                         const char *schema, const char *within) {
  (void)unused;
  (void)schema;
  (void)within;
  switch (action) {
  case SQLITE_ATTACH:
  case SQLITE_DETACH:
  case SQLITE_TRANSACTION:
  case SQLITE_SAVEPOINT:
    return SQLITE_DENY;
  case SQLITE_FUNCTION:
    return is_harmful_function(second) ? SQLITE_DENY : SQLITE_OK;
  case SQLITE_PRAGMA:
    return is_harmless_pragma(first) ? SQLITE_OK : SQLITE_DENY;
  default:
    return SQLITE_OK;
  }
}

static bool is_blank(const char *text) {
  return text[strspn(text, " \t\r\n;")] == 0;
}

static int fail_sql(const cli *c, const cli_results *r) {
  const char *message = sqlite3_errmsg(r->db);
  if (sqlite3_errcode(r->db) == SQLITE_AUTH || strstr(message, "not authorized") ||
      strstr(message, "authorization denied"))
    return cli_fail(c, "%s: only reading is allowed, as in SELECT ... FROM results", message);
  return cli_fail_results(c, r);
}

static int print_rows(const cli *c, const cli_results *r, sqlite3_stmt *rows) {
  if (!cli_is_plain(c)) return cli_stream_rows(c, rows) == SQLITE_DONE ? CLI_OK : fail_sql(c, r);
  cli_table *t = cli_collect(rows);
  if (!t) return fail_sql(c, r);
  bool ok = c->values[CLI_MARKDOWN]
                ? cli_print_markdown(t, stdout)
                : cli_print_table(t, stdout, cli_is_terminal(stdout) ? cli_columns(stdout) : 0);
  cli_free_table(t);
  return ok ? CLI_OK : cli_fail_memory(c);
}

static int run_select(const cli *c, const cli_results *r, const char *sql) {
  sqlite3_stmt *rows = NULL;
  const char *rest = "";
  int status = CLI_ERROR;
  if (sqlite3_set_authorizer(r->db, allow_reading, NULL) != SQLITE_OK) return cli_fail_memory(c);
  if (sqlite3_prepare_v2(r->db, sql, -1, &rows, &rest) != SQLITE_OK)
    status = fail_sql(c, r);
  else if (!rows || !is_blank(rest))
    status = cli_fail(c, "one statement must be given, got %s", rows ? "several" : "none");
  else if (!sqlite3_stmt_readonly(rows))
    status = cli_fail(c, "the statement writes: only reading is allowed, as in SELECT ... FROM "
                         "results");
  else
    status = print_rows(c, r, rows);
  sqlite3_finalize(rows);
  return status;
}

int cli_run_sql(cli *c) {
  cli_results r = {0};
  if (c->count == 0)
    return cli_fail(c, "a query must be given; as in evalci sql results.csv \"SELECT * FROM "
                       "results\"");
  const char *sql = c->names[c->count - 1];
  if (c->count > 1) {
    if (!cli_open_results(c, c->names, c->count - 1, &r)) return CLI_ERROR;
  } else {
    if (cli_exists(sql))
      return cli_fail(c,
                      "a query must come last, got only '%s'; as in evalci sql results.csv "
                      "\"SELECT * FROM results\"",
                      sql);
    r.db = cli_connect(c, NULL);
    if (!r.db) return CLI_ERROR;
  }
  int status = run_select(c, &r, sql);
  cli_close_results(&r);
  return status;
}
