/*
** evalci VERB FILES OPTIONS: error bars for LLM evals, on the command line.
**
** Ends with 0; a gate also with 1 (it fails) or 2 (unsure); with 3 after any error.
*/
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "../evalci.h"
#include "cli.h"

const cli_verb *cli_verb_named(const char *name) {
  for (const cli_verb *v = cli_verbs; v->name; v++)
    if (strcmp(v->name, name) == 0) return v;
  return NULL;
}

void cli_put_clean(FILE *to, const char *text) {
  for (size_t size; *text; text += size) {
    int columns;
    size = cli_character(text, &columns);
    if (columns < 0)
      fputc(' ', to);
    else
      fwrite(text, 1, size, to);
  }
}

void cli_put_shell_word(FILE *to, const char *word) {
  bool plain = true, clean = true;
  int columns;
  for (const char *at = word; *at;) {
    plain &= !strchr(" '\"\\$`*?[](){}<>|&;#!~", *at);
    at += cli_character(at, &columns);
    clean &= columns >= 0;
  }
  if (!clean || !plain) fputs(clean ? "'" : "$'", to);
  for (size_t size; *word; word += size) {
    size = cli_character(word, &columns);
    if (columns < 0)
      for (size_t i = 0; i < size; i++) fprintf(to, "\\%03o", (unsigned)(unsigned char)word[i]);
    else if (*word == '\'')
      fputs(clean ? "'\\''" : "\\'", to);
    else if (*word == '\\' && !clean)
      fputs("\\\\", to);
    else
      fwrite(word, 1, size, to);
  }
  if (!clean || !plain) fputc('\'', to);
}

static void begin_error(const cli *c) {
  fflush(stdout);
  fprintf(stderr, "evalci%s%s: ", c->verb ? " " : "", c->verb ? c->verb->name : "");
}

int cli_fail(const cli *c, const char *format, ...) {
  va_list list;
  va_start(list, format);
  char *text = sqlite3_vmprintf(format, list);
  va_end(list);
  begin_error(c);
  cli_put_clean(stderr, text ? text : "out of memory");
  fputc('\n', stderr);
  sqlite3_free(text);
  return CLI_ERROR;
}

int cli_fail_lines(const cli *c, char *lines) {
  begin_error(c);
  for (char *line = lines, *end; line; line = end) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    cli_put_clean(stderr, line);
    fputc('\n', stderr);
  }
  return CLI_ERROR;
}

int cli_fail_memory(const cli *c) {
  return cli_fail(c, "out of memory");
}

static const char *verb_at(int i) {
  return cli_verbs[i].name;
}

static int fail_verb(const cli *c, const char *name) {
  int count = 0;
  while (cli_verbs[count].name) count++;
  const char *near = cli_nearest(name, verb_at, count);
  if (!near && cli_exists(name))
    return cli_fail(c, "a verb must come first, got '%s'; as in evalci leaderboard %s", name, name);
  if (near) return cli_fail(c, "no verb '%s'; did you mean %s?", name, near);
  return cli_fail(c, "no verb '%s'; evalci --help lists them", name);
}

int cli_run_help(cli *c) {
  const char *name = c->count > 0 ? c->names[0] : NULL;
  const cli_verb *verb = name ? cli_verb_named(name) : NULL;
  if (name && !verb) return fail_verb(c, name);
  if (verb)
    cli_help_verb(stdout, verb);
  else
    cli_help(stdout);
  return CLI_OK;
}

static int run_verb(cli *c, char **arguments) {
  if (!cli_read_options(c, arguments)) return CLI_ERROR;
  if (!c->values[CLI_HELP]) return c->verb->run(c);
  cli_help_verb(stdout, c->verb);
  return CLI_OK;
}

static int run_first(cli *c, char **arguments) {
  const char *first = arguments[0];
  if (!first) {
    cli_help(stderr);
    return CLI_ERROR;
  }
  if (strcmp(first, "--version") == 0) {
    printf("evalci %s, SQLite %s\n", EVALCI_VERSION, sqlite3_libversion());
    return CLI_OK;
  }
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) first = "help";
  if (*first == '-')
    return cli_fail(c, "a verb must come first, got '%s'; as in evalci leaderboard results.csv",
                    first);
  const cli_verb *verb = cli_verb_named(first);
  if (!verb) return fail_verb(c, first);
  c->verb = verb;
  return run_verb(c, arguments + 1);
}

/* What -o names is complete then, which is what was asked for. */
static int fail_output(const cli *c, const char *why, int status) {
  const char *made = c->values[CLI_OUTPUT];
  if (!made || strcmp(made, "-") == 0) return cli_fail(c, "cannot write: %s", why);
  cli_fail(c, "'%s' is complete; what is in it cannot be printed: %s", made, why);
  return status;
}

int main(int argc, char **argv) {
  cli c = {0};
  cli_start();
  /* A full disk is noticed when the output is flushed. */
  int status = argc > 0 ? run_first(&c, argv + 1) : CLI_ERROR;
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && status != CLI_ERROR)
    status = fail_output(&c, errno ? strerror(errno) : "the output is closed", status);
  sqlite3_free(c.names);
  return status;
}
