/*
** The options: one table, for reading them and for help.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../sqlite/surface.h"
#include "cli.h"

/* Verbs that read results; those that show them as a table. */
#define BOARDS " leaderboard compare tasks passes noise slices questions "
#define READERS BOARDS "report import gate sql "
#define JUDGED BOARDS "report gate "

const cli_option cli_options[CLI_CHOICES] = {
    [CLI_OUTPUT] = {"output", "FILE", "the file to write, also as -o FILE", " report import "},
    [CLI_KEEP] = {"keep", "COLUMNS", "further columns to keep, separated by commas", " import "},
    [CLI_BASELINE] = {"baseline", "MODEL", "the old model; in a comparison the same as --a",
                      " gate compare slices "},
    [CLI_CANDIDATE] = {"candidate", "MODEL", "the new model; in a comparison the same as --b",
                       " gate compare slices "},
    [CLI_MIN] = {"min", "SHARE", "instead of a baseline: the accuracy to reach, as 0.85",
                 " gate plan "},
    [CLI_MARGIN] = {"margin", "SHARE", "how much worse is still acceptable (default 0.02)",
                    " gate "},
    [CLI_SURE] = {"sure", "SHARE", "how sure to be (default 0.95)", " gate plan "},
    [CLI_A] = {"a", "MODEL", "every pair of this model, with it as A", " compare slices "},
    [CLI_B] = {"b", "MODEL", "every pair of this model, with it as B", " compare slices "},
    [CLI_TITLE] = {"title", "TEXT", "the page's heading", " report "},
    [CLI_NOTE] = {"note", "TEXT", "a paragraph under the heading", " report "},
    [CLI_WIDTH] = {"width", "SHARE", "how wide the interval may be, as 0.10", " plan "},
    [CLI_ICC] =
        {"icc", "SHARE",
         "the share of an answer's variance that comes from the question, as icc_ci gives it",
         " plan "},
    [CLI_COST_QUESTION] = {"cost-question", "NUMBER", "what another question costs", " plan "},
    [CLI_COST_ATTEMPT] = {"cost-attempt", "NUMBER", "what each attempt at it costs", " plan "},
    [CLI_DISAGREE] = {"disagree", "SHARE",
                      "questions on which one model is right and the other wrong", " plan "},
    [CLI_QUESTIONS] = {"questions", "N", "which difference can N questions find?", " plan "},
    [CLI_POWER] = {"power", "SHARE", "the chance of finding the difference (default 0.8)",
                   " plan "},
    [CLI_ANCHOR] = {"anchor", "MODEL", "the model whose rating is the base", " votes "},
    [CLI_SCALE] = {"scale", "NUMBER", "points between odds of 10 to 1 (default 400)", " votes "},
    [CLI_BASE] = {"base", "NUMBER", "the mean rating, or the anchor's (default 1000)", " votes "},
    [CLI_POSITION] = {"position", NULL, "estimate the advantage of being shown first", " votes "},
    [CLI_LEVEL] = {"level", "SHARE", "of intervals and verdicts (default 0.95)",
                   JUDGED "plan votes "},
    [CLI_BY] = {"by", "WHAT", "question, or task: every task counts the same", BOARDS "report "},
    [CLI_ERRORS] = {"errors", "WHAT",
                    "skip leaves out answers that errored (the default except for a gate), wrong "
                    "counts them as wrong",
                    JUDGED},
    [CLI_LO] = {"lo", "NUMBER", "the least possible score (default 0)", READERS},
    [CLI_HI] = {"hi", "NUMBER", "the greatest possible score (default 1)", READERS},
    [CLI_JSON] = {"json", NULL, "every column, as JSON", BOARDS "gate sql votes "},
    [CLI_CSV] = {"csv", NULL, "every column, as CSV", BOARDS "sql votes "},
    [CLI_MARKDOWN] = {"markdown", NULL, "the table in Markdown, for a comment on a pull request",
                      BOARDS "sql votes "},
    [CLI_FROM] = {"from", "FORMAT", "the format of RESULTS, by its name in evalci formats",
                  READERS "votes "},
    [CLI_TABLE] = {"table", "TABLE", "the table of a database (default results, or votes)",
                   READERS "votes "},
    [CLI_MODEL] = {"model", "COLUMN", "the column that has the model", READERS},
    [CLI_TASK] = {"task", "COLUMN", "the column that has the task", READERS},
    [CLI_ITEM] = {"item", "COLUMN", "the column that has the question", READERS},
    [CLI_ATTEMPT] = {"attempt", "COLUMN", "the column that numbers attempts", READERS},
    [CLI_CORRECT] = {"correct", "COLUMN", "the column that has right (1) or wrong (0)", READERS},
    [CLI_SCORE] = {"score", "COLUMN", "the column that has a score", READERS},
    [CLI_FAILURE] = {"error", "COLUMN", "the column that has an error's text", READERS},
    [CLI_COST] = {"cost", "COLUMN", "the column that has the cost", " import "},
    [CLI_LATENCY] = {"latency", "COLUMN", "the column that has the latency", " import "},
    [CLI_TOKENS] = {"tokens", "COLUMN", "the column that has the tokens", " import "},
    [CLI_MODEL_A] = {"model-a", "COLUMN", "the column that has a vote's first model",
                     " import votes "},
    [CLI_MODEL_B] = {"model-b", "COLUMN", "the column that has its second model", " import votes "},
    [CLI_WINNER] = {"winner", "COLUMN", "the column that has its winner", " import votes "},
    [CLI_MODEL_NAME] = {"model-name", "NAME", "the model of all answers, whatever the files say",
                        READERS},
    [CLI_TASK_NAME] = {"task-name", "NAME", "the task of all answers, whatever the files say",
                       READERS},
    [CLI_SCORER] = {"scorer", "NAME", "the scorer to take, if a tool wrote several", READERS},
    [CLI_METRIC] = {"metric", "NAME", "the metric to take", READERS},
    [CLI_FILTER] = {"filter", "NAME", "the filter of lm_eval to take", READERS},
    [CLI_SPLIT] = {"split", "NAME", "the split to take", READERS},
    [CLI_ITEMS] = {"items", "FILE", "SWE-bench: a list of all its questions", READERS},
    [CLI_QUIET] = {"quiet", NULL, "print the answer alone", READERS "plan votes "},
    [CLI_HELP] = {"help", NULL, "this text", NULL},
};

bool cli_takes(const cli_verb *verb, cli_choice choice) {
  const char *verbs = cli_options[choice].verbs;
  size_t size = strlen(verb->name);
  if (!verbs) return true;
  for (const char *at = verbs; (at = strstr(at, verb->name)); at += size)
    if (at[-1] == ' ' && at[size] == ' ') return true;
  return false;
}

/*
** The nearest name
*/
const char *cli_nearest(const char *name, const char *(*at)(int i), int count) {
  const char *best = NULL;
  int least = 3; /* a name with more than two wrong letters is another word */
  for (int i = 0; i < count; i++) {
    int far = evalci_name_distance(name, at(i));
    if (far >= least) continue;
    least = far;
    best = at(i);
  }
  return best;
}

/*
** Reading
*/
static const char *option_at(int i) {
  return cli_options[i].name;
}

static bool fail_option(const cli *c, const char *text, const char *name, cli_choice found) {
  if (found < CLI_CHOICES)
    cli_fail(c, "%s is not an option of this verb; evalci %s --help lists its options", text,
             c->verb->name);
  else if (cli_nearest(name, option_at, CLI_CHOICES))
    cli_fail(c, "no option %s; did you mean --%s?", text,
             cli_nearest(name, option_at, CLI_CHOICES));
  else
    cli_fail(c, "no option %s; evalci %s --help lists its options", text, c->verb->name);
  return false;
}

static cli_choice choice_named(const char *name) {
  int i = 0;
  if (strcmp(name, "o") == 0) return CLI_OUTPUT;
  if (strcmp(name, "h") == 0) return CLI_HELP;
  while (i < CLI_CHOICES && strcmp(cli_options[i].name, name) != 0) i++;
  return (cli_choice)i;
}

/* Reads one option, with its value after = or in the next argument. */
static bool take_option(cli *c, char ***arguments) {
  char *text = **arguments, *name = text + 1 + (text[1] == '-'), *value = strchr(name, '=');
  if (value) *value++ = 0;
  cli_choice choice = choice_named(name);
  if (choice == CLI_CHOICES || !cli_takes(c->verb, choice))
    return fail_option(c, text, name, choice);
  if (c->values[choice]) {
    cli_fail(c, "%s is given twice; once is enough", text);
    return false;
  }
  if (!cli_options[choice].argument && value) {
    cli_fail(c, "%s takes no value, got '%s'", text, value);
    return false;
  }
  if (cli_options[choice].argument && !value) value = *++*arguments;
  if (cli_options[choice].argument && !value) {
    cli_fail(c, "%s must be followed by %s", text, cli_options[choice].argument);
    return false;
  }
  c->values[choice] = value ? value : "";
  return true;
}

bool cli_read_options(cli *c, char **arguments) {
  size_t count = 0;
  bool only_names = false;
  while (arguments[count]) count++;
  c->names = sqlite3_malloc64((count + 1) * sizeof *c->names);
  if (!c->names) {
    cli_fail_memory(c);
    return false;
  }
  for (; *arguments; arguments++) {
    const char *text = *arguments;
    if (only_names || text[0] != '-' || !text[1])
      c->names[c->count++] = text;
    else if (strcmp(text, "--") == 0)
      only_names = true;
    else if (!take_option(c, &arguments))
      return false;
    if (!*arguments) break;
  }
  return true;
}

/*
** What a value must be
*/
typedef struct cli_range {
  cli_choice choice;
  double least, most;
  bool with_least, with_most;
  const char *must;
} cli_range;

static const cli_range ranges[] = {
    {CLI_MIN, 0, 1, false, false, "strictly between 0 and 1"},
    {CLI_MARGIN, 0, 1, true, false, "from 0 to below 1"},
    {CLI_SURE, 0.5, 1, false, false, "strictly between 0.5 and 1"},
    {CLI_WIDTH, 0, 1, false, false, "strictly between 0 and 1"},
    {CLI_ICC, 0, 1, true, true, "from 0 to 1"},
    {CLI_COST_QUESTION, 0, 0x1p500, true, true, "0 or positive"},
    {CLI_COST_ATTEMPT, 0, 0x1p500, true, true, "0 or positive"},
    {CLI_DISAGREE, 0, 1, false, true, "above 0, up to 1"},
    {CLI_QUESTIONS, 1, 0x1p53, true, true, "from 1 to 2^53"},
    {CLI_POWER, 0, 1, false, false, "strictly between 0 and 1"},
    {CLI_SCALE, 0, 0x1p500, false, true, "above 0"},
    {CLI_BASE, -0x1p500, 0x1p500, true, true, "finite"},
    {CLI_LEVEL, 0, 1, false, false, "strictly between 0 and 1"},
    {CLI_LO, -0x1p500, 0x1p500, true, true, "finite"},
    {CLI_HI, -0x1p500, 0x1p500, true, true, "finite"},
};

bool cli_read_number(const char *text, double *out) {
  char *end;
  if (!*text || strspn(text, "0123456789.eE+-") != strlen(text)) return false;
  *out = strtod(text, &end);
  return !*end && isfinite(*out);
}

/* 85%: a number with that sign after it. */
static bool read_percent(const char *text, double *out) {
  char number[32];
  size_t n = strlen(text);
  if (n < 2 || n > sizeof number || text[n - 1] != '%') return false;
  memcpy(number, text, n - 1);
  number[n - 1] = '\0';
  return cli_read_number(number, out);
}

static bool is_in_range(const cli_range *r, double x) {
  return (r->with_least ? x >= r->least : x > r->least) &&
         (r->with_most ? x <= r->most : x < r->most);
}

static const cli_range *range_of(cli_choice choice) {
  const cli_range *r = ranges;
  while (r->choice != choice) r++;
  return r;
}

bool cli_number(const cli *c, cli_choice choice, double usual, double *out) {
  const char *text = c->values[choice], *name = cli_options[choice].name;
  const cli_range *r = range_of(choice);
  *out = usual;
  if (!text) return true;
  bool number = cli_read_number(text, out), percent = !number && read_percent(text, out);
  if (number && is_in_range(r, *out)) return true;
  if ((percent || (number && *out >= 1)) && r->most == 1 && is_in_range(r, *out / 100))
    cli_fail(c, "--%s must be a number %s, got '%s'; did you mean %.15g?", name, r->must, text,
             *out / 100);
  else
    cli_fail(c, "--%s must be a number %s, got '%s'; evalci %s --help says more", name, r->must,
             text, c->verb->name);
  return false;
}

bool cli_one_of(const cli *c, cli_choice choice, const char *one, const char *other) {
  const char *text = c->values[choice];
  if (!text || strcmp(text, one) == 0 || strcmp(text, other) == 0) return true;
  cli_fail(c, "--%s must be %s or %s, got '%s'", cli_options[choice].name, one, other, text);
  return false;
}
