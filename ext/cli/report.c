/*
** evalci report: the page of eval_report(), to a file or a pipe.
**
** A file is written under another name and renamed when it is complete, so that a full disk
** leaves the old page intact.
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char report_sql[] =
    "SELECT eval_report(?1, json_patch(?2, json_object('title', ?3, 'note', ?4, 'origin', ?5, "
    "'date', strftime('%Y-%m-%d %H:%M UTC', 'now'))))";

/* Writes all of the page; 0 or an errno. */
static int write_page(FILE *to, const char *page, size_t size) {
  errno = 0;
  bool whole = fwrite(page, 1, size, to) == size && fputc('\n', to) != EOF && fflush(to) == 0;
  return whole ? 0 : errno ? errno : EIO;
}

static int write_part(const char *part, const char *page, size_t size) {
  FILE *to = fopen(part, "wb");
  if (!to) return errno;
  int error = write_page(to, page, size);
  if (fclose(to) && !error) error = errno;
  return error ? error : cli_sync(part);
}

/* Replaces a page by another. */
static int write_file(const char *path, const char *page, size_t size) {
  int error = ENOMEM;
  char *target = cli_resolve(path), *part = target ? cli_guard_beside(target, &error) : NULL;
  if (!part) {
    sqlite3_free(target);
    return error;
  }
  error = write_part(part, page, size);
  if (!error) error = cli_replace(part, target);
  if (error) cli_remove(part);
  cli_end_guard();
  sqlite3_free(part);
  sqlite3_free(target);
  return error;
}

static int put_page(const cli *c, const char *page, size_t size) {
  const char *target = c->values[CLI_OUTPUT];
  bool direct = !target || strcmp(target, "-") == 0;
  int error = 0;
  if (direct) {
    error = write_page(stdout, page, size);
  } else if (cli_exists(target) && !cli_is_file(target)) { /* a pipe, a device */
    FILE *to = fopen(target, "wb");
    error = to ? write_page(to, page, size) : errno;
    if (to && fclose(to) && !error) error = errno;
  } else {
    error = write_file(target, page, size);
  }
  if (error)
    return cli_fail(c, "cannot write '%s': %s", direct ? "standard output" : target,
                    strerror(error));
  if (!direct && !c->values[CLI_QUIET]) {
    fputs("wrote ", stdout);
    cli_put_shell_word(stdout, target);
    putchar('\n');
  }
  return CLI_OK;
}

/* The origin of imported answers: the first file's name without its folder, and how many more. */
static char *origin_of(const cli *c) {
  const char *name = c->names[0];
  for (const char *at = name; *at; at++)
    if ((*at == '/' || *at == '\\') && at[1]) name = at + 1;
  if (strcmp(name, "-") == 0) name = "standard input";
  return c->count > 1 ? sqlite3_mprintf("%s and %d more", name, c->count - 1)
                      : sqlite3_mprintf("%s", name);
}

static int bind_page(const cli *c, const cli_results *r, sqlite3_stmt *asked) {
  int rc = SQLITE_OK;
  for (int i = 0; i < 2 && rc == SQLITE_OK; i++)
    if (c->values[CLI_TITLE + i])
      rc = sqlite3_bind_text(asked, 3 + i, c->values[CLI_TITLE + i], -1, SQLITE_STATIC);
  if (rc == SQLITE_OK && !r->path) rc = sqlite3_bind_text(asked, 5, origin_of(c), -1, sqlite3_free);
  return rc;
}

static int ask_page(const cli *c, const cli_results *r) {
  sqlite3_stmt *asked = cli_ask(c, r, report_sql);
  int status = CLI_ERROR, rc = asked ? bind_page(c, r, asked) : SQLITE_ABORT;
  if (rc == SQLITE_OK && sqlite3_step(asked) == SQLITE_ROW && sqlite3_column_text(asked, 0))
    status = put_page(c, (const char *)sqlite3_column_text(asked, 0),
                      (size_t)sqlite3_column_bytes(asked, 0));
  else if (asked)
    cli_fail_results(c, r);
  sqlite3_finalize(asked);
  return status;
}

/* Refuses to overwrite an input file, or any database. */
static bool check_output(const cli *c) {
  const char *target = c->values[CLI_OUTPUT];
  if (!target && cli_is_terminal(stdout)) {
    cli_fail(c, "-o must name a file; as in evalci report results.csv -o report.html");
    return false;
  }
  if (!target) return true;
  for (int i = 0; i < c->count; i++)
    if (cli_same_file(c->names[i], target)) {
      cli_fail(c, "the page would replace '%s', which is read; name another file", target);
      return false;
    }
  if (!*target || cli_is_folder(target) || cli_is_database(target)) {
    cli_fail(c, "-o must name a file for the page, got %s'%s'",
             !*target                ? ""
             : cli_is_folder(target) ? "the folder "
                                     : "the database ",
             target);
    return false;
  }
  return true;
}

int cli_run_report(cli *c) {
  cli_results r;
  if (!check_output(c) || !cli_open_results(c, c->names, c->count, &r)) return CLI_ERROR;
  int status = ask_page(c, &r);
  cli_close_results(&r);
  return status;
}
