/*
** Help, which is the documentation of the program: printed from the tables of verbs and
** options, in 80 columns.
*/
#include <string.h>

#include "../evalci.h"
#include "cli.h"

/* The width of help: 79 columns, or the terminal's if it is narrower. */
static int help_columns(FILE *to) {
  int columns = cli_columns(to);
  return columns < 79 ? columns : 79;
}

static void put_spaces(FILE *to, int count) {
  fprintf(to, "%*s", count, "");
}

/* Prints a word without control characters; returns its columns. */
static int put_word(FILE *to, const char *word, size_t size) {
  char *text = sqlite3_mprintf("%.*s", (int)size, word);
  int columns = text ? cli_text_columns(text) : 0;
  if (to && text) cli_put_clean(to, text);
  sqlite3_free(text);
  return columns;
}

/* Prints words, wrapped; the first line begins at the current column.  A newline, as in a file's
** name, is a space. */
void cli_put_wrapped(FILE *to, const char *text, int indent, int columns) {
  int used = indent;
  for (bool first = true; *text; first = false) {
    size_t size = strcspn(text, " \n");
    if (!first && used + 1 + put_word(NULL, text, size) > columns) {
      fputc('\n', to);
      put_spaces(to, indent);
      used = indent;
    } else if (!first) {
      fputc(' ', to);
      used++;
    }
    used += put_word(to, text, size);
    text += size;
    text += strspn(text, " \n");
  }
  fputc('\n', to);
}

void cli_help(FILE *to) {
  static const char *const about[] = {
      "evalci puts error bars on evals of language models: which model is better, and how sure "
      "is that? It reads what your eval tool wrote, or a CSV file with one row per answer.",
      "RESULTS are files or folders of any format that it knows, or a database; - is standard "
      "input. The format is recognised by looking inside. Only the file that -o names is written."};
  fprintf(to, "usage: evalci VERB RESULTS... [OPTIONS]\n\n");
  for (int i = 0; i < 2; i++) {
    cli_put_wrapped(to, about[i], 0, help_columns(to));
    fputc('\n', to);
  }
  for (const cli_verb *v = cli_verbs; v->name; v++) {
    fprintf(to, "  %-12s ", v->name);
    cli_put_wrapped(to, v->summary, 15, help_columns(to));
  }
  fputs("\nTry:  evalci leaderboard results.csv\n", to);
  cli_put_wrapped(to, "Then: evalci help VERB, for what a verb does and its options.", 0,
                  help_columns(to));
  fputc('\n', to);
  cli_put_wrapped(to,
                  "Exit status: 0 if all went well; a gate exits with 1 if it fails and 2 if there "
                  "are too few questions to decide; 3 after any error, which is on standard error.",
                  0, help_columns(to));
}

/* The options that a verb takes, each with its line. */
static void help_options(FILE *to, const cli_verb *verb) {
  fprintf(to, "Options:\n");
  for (int i = 0; i < CLI_CHOICES; i++) {
    const cli_option *o = &cli_options[i];
    if (!cli_takes(verb, (cli_choice)i)) continue;
    int used =
        fprintf(to, "  --%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    put_spaces(to, used < 23 ? 23 - used : 1);
    cli_put_wrapped(to, o->help, 23, help_columns(to));
  }
}

void cli_help_verb(FILE *to, const cli_verb *verb) {
  fprintf(to, "usage: ");
  char *usage = sqlite3_mprintf("evalci %s %s", verb->name, verb->arguments);
  cli_put_wrapped(to, usage ? usage : verb->name, 9, help_columns(to));
  sqlite3_free(usage);
  for (const char *const *text = verb->help; *text; text++) {
    bool as_is = strncmp(*text, "  ", 2) == 0;
    if (!as_is || strncmp(text[-1 + (text == verb->help)], "  ", 2) != 0) fputc('\n', to);
    if (as_is)
      fprintf(to, "%s\n", *text);
    else
      cli_put_wrapped(to, *text, 0, help_columns(to));
  }
  fputc('\n', to);
  help_options(to, verb);
}
