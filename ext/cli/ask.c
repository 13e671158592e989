/*
** Runs SQL over the results, and rewords SQLite's messages for the command line.
*/
#include <string.h>

#include "cli.h"

/* The columns of the table, separated by commas; NULL if they cannot be read. */
static char *columns_of(const cli_results *r) {
  sqlite3_stmt *rows = NULL;
  char *names = NULL;
  if (sqlite3_prepare_v2(r->db, "SELECT group_concat(name, ', ') FROM pragma_table_info(?1)", -1,
                         &rows, NULL) == SQLITE_OK &&
      sqlite3_bind_text(rows, 1, r->source, -1, SQLITE_STATIC) == SQLITE_OK &&
      sqlite3_step(rows) == SQLITE_ROW && sqlite3_column_text(rows, 0))
    names = sqlite3_mprintf("%s", sqlite3_column_text(rows, 0));
  sqlite3_finalize(rows);
  return names;
}

/* Options of the functions, and the command-line options that set them. */
static int fail_columns(const cli *c, const cli_results *r, const char *message, size_t size) {
  if (strcmp(c->verb->name, "votes") == 0)
    return cli_fail(c, "%.*s; say which is which by --model-a, --model-b and --winner", (int)size,
                    message);
  char *names = columns_of(r);
  int status =
      cli_fail(c, "%.*s; say which is which by --model, --task, --item, --correct or --score%s%s",
               (int)size, message, names ? "; the columns are " : "", names ? names : "");
  sqlite3_free(names);
  return status;
}

/* Advice in messages that is meant for SQL, and what to say on the command line instead. */
static const char *const remedies[][2] = {
    {"; SELECT model FROM eval_leaderboard", "evalci leaderboard lists them"},
    {"; the source has counts",
     "these are counts (k of n), of which evalci leaderboard and evalci tasks can be made"}};

/* Rewords what is said of lo and hi in options; 0 if the message does not mention them. */
static int reword_range(const cli *c, const char *message) {
  static const char all[] = "; lo and hi in options", add[] = "; add \"lo\":", and[] = ",\"hi\":";
  const char *rest = strstr(message, all);
  if (rest)
    return cli_fail(c, "%.*s; --lo and --hi%s", (int)(rest - message), message, rest + strlen(all));
  const char *lo = strstr(message, add), *hi = lo ? strstr(lo, and) : NULL;
  const char *end = hi ? strstr(hi, " to options") : NULL;
  if (!end) return 0;
  const char *from = lo + strlen(add), *to = hi + strlen(and);
  return cli_fail(c, "%.*s; add --lo %.*s --hi %.*s", (int)(lo - message), message,
                  (int)(hi - from), from, (int)(end - to), to);
}

int cli_fail_results(const cli *c, const cli_results *r) {
  const char *message = sqlite3_errmsg(r->db), *rest;
  int code = sqlite3_errcode(r->db) & 0xff;
  if (code == SQLITE_BUSY)
    return cli_fail(c, "'%s' is locked by another program; try again when that is done",
                    r->path ? r->path : "the temporary database");
  if (strncmp(message, "eval_", 5) == 0 && (rest = strstr(message, ": "))) message = rest + 2;
  if ((rest = strstr(message, "; name it in options")) ||
      (rest = strstr(message, "; name one in options")) ||
      (rest = strstr(message, ", which options name")))
    return fail_columns(c, r, message, (size_t)(rest - message));
  int status = reword_range(c, message);
  if (status) return status;
  for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
    if ((rest = strstr(message, remedies[i][0])))
      return cli_fail(c, "%.*s; %s", (int)(rest - message), message, remedies[i][1]);
  return cli_fail(c, "%s", message);
}

sqlite3_stmt *cli_ask(const cli *c, const cli_results *r, const char *sql) {
  sqlite3_stmt *asked = NULL;
  int rc = sqlite3_prepare_v2(r->db, sql, -1, &asked, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_bind_text(asked, 1, r->source, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK) rc = sqlite3_bind_text(asked, 2, r->options, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK) return asked;
  cli_fail_results(c, r);
  sqlite3_finalize(asked);
  return NULL;
}

void cli_add_count(sqlite3_str *to, const char *before, sqlite3_int64 n, const char *what) {
  sqlite3_str_appendf(to, "%s%,lld %s%s", before, n, what, n == 1 ? "" : "s");
}

void cli_add_done(sqlite3_str *to, const import_done *d) {
  bool answers = strcmp(d->table, "results") == 0;
  cli_add_count(to, "", d->rows, answers ? "answer" : "row");
  cli_add_count(to, answers ? ": " : " of ", d->models, "model");
  if (!answers) return;
  cli_add_count(to, ", ", d->tasks, "task");
  cli_add_count(to, ", ", d->questions, "question");
}

/* Prints the text in lines, and frees it. */
void cli_put_lines(sqlite3_str *text) {
  char *lines = sqlite3_str_finish(text);
  if (lines) cli_put_wrapped(stdout, lines, 0, cli_columns(stdout));
  sqlite3_free(lines);
}

void cli_put_origin(const cli *c, const cli_results *r) {
  sqlite3_str *text = sqlite3_str_new(NULL);
  const char *name = strcmp(c->names[0], "-") == 0 ? "standard input" : c->names[0];
  if (r->path) {
    sqlite3_str_appendf(text, "%s, table %s", r->path, r->source);
  } else {
    sqlite3_str_appendf(text, "%s%s (%s): ", name, c->count > 1 ? " and others" : "",
                        r->done.format);
    cli_add_done(text, &r->done);
  }
  cli_put_lines(text);
}
