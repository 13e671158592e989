/*
** The verbs that show a table of the board: leaderboard, compare, tasks, passes, noise,
** slices, questions, votes.  Text has the columns that fit on a line; JSON, CSV and Markdown have
** all columns.
*/
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define FORMATTED(format, x) "iif(" x " IS NULL, NULL, printf(" format ", " x "))"
#define PERCENT(x) FORMATTED("'%.1f%%'", "100 * " x)
#define SIGNED(format, x) "replace(" FORMATTED(format, x) ", '-', '\u2212')"
#define POINTS(x) SIGNED("'%+.1f'", "100 * " x)
#define CHANCE(x)                                                                                  \
  "CASE WHEN " x " >= 0.9995 THEN '>0.999' WHEN " x                                                \
  " < 0.0005 THEN '<0.001' ELSE " FORMATTED("'%.3f'", x) " END"
#define P_VALUE(x) "iif(" x " = 1, '1.000', " CHANCE(x) ")" /* of a test, where 1 is common */
#define NOTED(words) "count(*) FILTER (WHERE note = '" words "') OVER ()"

/* A column shown to people, and its SQL; ? and ! before a name mean what they mean in
** cli_collect(). */
typedef struct cli_column {
  const char *name, *sql;
} cli_column;

enum { MOST_SHOWN = 12, QUESTIONS_SHOWN = 50 };

typedef struct cli_board {
  const char *verb;
  bool pair;         /* for two models that are named, not for a table of many */
  const char *about; /* %s: the level */
  cli_column columns[MOST_SHOWN];
  const char *order;
} cli_board;

static const cli_board boards[] = {
    {.verb = "leaderboard",
     .about = "Accuracy with its %s interval, and the ranks that each model may have.",
     .columns =
         {{"rank", "iif(rank_lo = rank_hi, rank_lo, rank_lo || '\u2013' || rank_hi)"},
          {"model", "model"},
          {"accuracy", PERCENT("accuracy")},
          {"interval", "ci_text(ci)"},
          {"P(best)", CHANCE("p_best")},
          {"questions", "questions"},
          {"?errored", "nullif(errored, 0)"},
          {"!method", "method"},
          {"!common", "iif(common = 0, 'nothing in common', NULL)"},
          {"!ranks",
           "iif(n = 0, model || ' has ', iif(max(p_best) OVER () > 0, 'Ranks and P(best): ', "
           "'There are no ranks and no P(best): ')) || rank_note || '.'"}}},
    {.verb = "compare",
     .about = "A - B in points, on the questions that both answered, with the pair's own %s "
              "interval. p and verdict are corrected for testing all pairs: a pair may be not "
              "separated though its own interval excludes 0. --a and --b show a pair alone.",
     .columns = {{"A", "model_a"},
                 {"B", "model_b"},
                 {"n", "n"},
                 {"A - B", POINTS("diff")},
                 {"own interval", "ci_text(ci)"},
                 {"corrected p", P_VALUE("p_all")},
                 {"verdict", "iif(verdict LIKE verdict_all || ' unless%', verdict, verdict_all)"},
                 {"!method", "method"},
                 {"!hedge", "iif(verdict LIKE verdict_all || ' unless%', verdict, '')"}}},
    {.verb = "compare",
     .pair = true,
     .about = "A - B in points, on the questions that both answered, with its %s interval.",
     .columns = {{"A", "model_a"},
                 {"B", "model_b"},
                 {"n", "n"},
                 {"A - B", POINTS("diff")},
                 {"interval", "ci_text(ci)"},
                 {"p", P_VALUE("p")},
                 {"verdict", "verdict"},
                 {"!method", "method"},
                 {"!hedge", "verdict"}}},
    {.verb = "tasks",
     .about = "Accuracy on each task, with its %s interval.",
     .columns = {{"model", "model"},
                 {"task", "task"},
                 {"accuracy", PERCENT("accuracy")},
                 {"interval", "ci_text(ci)"},
                 {"questions", "questions"},
                 {"?errored", "nullif(errored, 0)"},
                 {"!method", "method"}}},
    {.verb = "passes",
     .about = "The chance that at least one of k attempts is right (pass@k), and that all are "
              "(pass^k), each with its %s interval.",
     .columns = {{"model", "model"},
                 {"task", "task"},
                 {"k", "k"},
                 {"questions", "questions"},
                 {"pass@k", PERCENT("pass_at_k")},
                 {"interval", "ci_text(at_ci)"},
                 {"pass^k", PERCENT("pass_hat_k")},
                 {"interval", "ci_text(hat_ci)"}}},
    {.verb = "noise",
     .about = "The shares of the variance of one answer that come from tasks, questions and "
              "reruns, each with its %s interval.",
     .columns = {{"model", "model"},
                 {"tasks", PERCENT("task_share")},
                 {"interval", "ci_text(task_ci)"},
                 {"questions", PERCENT("question_share")},
                 {"interval", "ci_text(question_ci)"},
                 {"reruns", PERCENT("rerun_share")},
                 {"interval", "ci_text(rerun_ci)"},
                 {"!method", "iif(tasks = 1, 'one task', '')"}}},
    {.verb = "slices",
     .about = "A - B in points on each task, with its %s interval: above 0, B is worse. p is "
              "corrected for testing all tasks of the pair.",
     .columns = {{"A", "model_a"},
                 {"B", "model_b"},
                 {"task", "task"},
                 {"n", "n"},
                 {"A - B", POINTS("diff")},
                 {"interval", "ci_text(ci)"},
                 {"p", P_VALUE("p_bh")},
                 {"verdict", "verdict"}}},
    {.verb = "questions",
     .about = "The share of models that are wrong on each question, with its %s interval.",
     .columns = {{"task", "task"},
                 {"question", "item"},
                 {"models", "models"},
                 {"difficulty", PERCENT("difficulty")},
                 {"interval", "ci_text(ci)"},
                 {"item-rest", SIGNED("'%+.2f'", "item_rest")},
                 {"?note", "note"},
                 {"!all", "count(*) OVER ()"},
                 {"!always wrong", NOTED("always wrong")},
                 {"!perhaps miskeyed", NOTED("perhaps miskeyed")},
                 {"!always right", NOTED("always right")}},
     .order = " ORDER BY note IS NOT 'perhaps miskeyed', note IS NOT 'always wrong', "
              "b.difficulty DESC LIMIT 50"},
    {.verb = "votes",
     .about = "Ratings from votes, with their %s intervals, and the ranks that each model may "
              "have: 400 points are odds of 10 to 1, unless --scale says otherwise.",
     .columns = {{"rank", "iif(rank_lo = rank_hi, rank_lo, rank_lo || '\u2013' || rank_hi)"},
                 {"model", "model"},
                 {"rating", "CAST(round(rating) AS INTEGER)"},
                 {"interval", "ci_text(ci, 0, '')"},
                 {"votes", "votes"},
                 {"won", "wins"},
                 {"lost", "losses"},
                 {"tied", "ties"},
                 {"?shown first", PERCENT("first_place")}}},
};

static const cli_board *board_of(const cli_verb *verb, bool pair) {
  const cli_board *b = boards;
  while (strcmp(b->verb, verb->name) != 0) b++;
  return b + (pair && b[1].pair);
}

/*
** Pairs
*/
static const char *model_given(const cli *c, cli_choice choice, cli_choice same) {
  return c->values[choice] ? c->values[choice] : c->values[same];
}

/* Finds a model by name: the table may hold a number where the command line has text.  The
** tables say so if there is none. */
#define MODEL(parameter)                                                                           \
  "coalesce((SELECT model FROM eval_leaderboard(?1, ?2) WHERE CAST(model AS TEXT) = " parameter    \
  " LIMIT 1), " parameter ")"

static const char *where_of(const char *a, const char *b) {
  if (a && b) return " WHERE model_a = " MODEL("?3") " AND model_b = " MODEL("?4");
  return a ? " WHERE model_a = " MODEL("?3") : b ? " WHERE model_b = " MODEL("?4") : "";
}

static bool bind_models(sqlite3_stmt *asked, const char *a, const char *b) {
  return (!a || sqlite3_bind_text(asked, 3, a, -1, SQLITE_STATIC) == SQLITE_OK) &&
         (!b || sqlite3_bind_text(asked, 4, b, -1, SQLITE_STATIC) == SQLITE_OK);
}

/*
** Words
*/
static void put_paragraph(const char *text) {
  cli_put_wrapped(stdout, text, 0, cli_columns(stdout));
}

static void put_about(const cli *c, const cli_results *r, const cli_board *b) {
  char level[40];
  double x = 0.95;
  if (c->values[CLI_QUIET]) return;
  cli_number(c, CLI_LEVEL, 0.95, &x);
  snprintf(level, sizeof level, "%.10g%%", 100 * x);
  char *about = sqlite3_mprintf(b->about, level);
  cli_put_origin(c, r);
  if (about) put_paragraph(about);
  sqlite3_free(about);
  putchar('\n');
}

/* Notes under the table: what a cell that is not shown stands for, or the cell itself. */
static void put_notes(const cli *c, const cli_table *t) {
  static const char *const notes[][2] = {
      {"repeated rows", "A model has several answers to some questions, and no column numbers the "
                        "attempts: these answers are taken as attempts."},
      {"mean of questions",
       "Some questions were asked several times: each counts once, as the mean of its answers."},
      {"mean of tasks", "Every task counts the same."},
      {"one task",
       "One task does not show how tasks differ: its share is little more than the prior. "
       "Compare the questions' share with the reruns'."},
      {"unless it sometimes fails outright",
       "The better model leads on answers like those seen. \"Unless it sometimes fails outright\": "
       "a few answers with the worst score could undo its lead. ci_unseen in --json and --csv "
       "allows for "
       "them."},
      {"P(best)", NULL},
      {"nothing in common", "No question was answered by every model. " CLI_TASK_ADVICE}};
  bool first = true;
  if (c->values[CLI_QUIET]) return;
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
    const char *noted = cli_table_noted(t, notes[i][0]);
    if (!noted) continue;
    if (first) putchar('\n');
    first = false;
    put_paragraph(notes[i][1] ? notes[i][1] : noted);
  }
}

/* How many questions have each note, and how many there are if not all are shown. */
static void put_counts(const cli_table *t) {
  static const char *const notes[] = {"!always wrong", "!perhaps miskeyed", "!always right"};
  sqlite3_str *text = sqlite3_str_new(NULL);
  sqlite3_int64 all = strtoll(cli_table_first(t, "!all"), NULL, 10);
  cli_add_count(text, "Of ", all, "question");
  for (int i = 0; i < 3; i++) {
    const char *count = cli_table_first(t, notes[i]);
    sqlite3_str_appendf(text, "%s %s %s %s", i == 2 ? " and" : ",", count,
                        strcmp(count, "1") == 0 ? "is" : "are", notes[i] + 1);
  }
  sqlite3_str_appendall(text, ".");
  if (all > QUESTIONS_SHOWN)
    sqlite3_str_appendf(text, " These are the first %d; --csv and --json have all.",
                        QUESTIONS_SHOWN);
  putchar('\n');
  cli_put_lines(text);
}

/* Prints the table with the text above and below it. */
static bool put_board(const cli *c, const cli_results *r, const cli_board *b, const cli_table *t) {
  put_about(c, r, b);
  if (!cli_print_table(t, stdout, cli_columns(stdout))) return false;
  put_notes(c, t);
  if (b->order && !c->values[CLI_QUIET]) put_counts(t);
  return true;
}

static int print_board(const cli *c, const cli_results *r, const cli_board *b,
                       sqlite3_stmt *asked) {
  cli_table *t = cli_collect(asked);
  if (!t) return cli_fail_results(c, r);
  bool ok = true;
  if (c->values[CLI_MARKDOWN])
    ok = cli_print_markdown(t, stdout);
  else if (cli_table_rows(t) > 0)
    ok = put_board(c, r, b, t);
  else if (strcmp(b->verb, "passes") == 0 || strcmp(b->verb, "noise") == 0)
    puts("No question was asked more than once.");
  else
    puts("There is nothing to compare.");
  cli_free_table(t);
  return ok ? CLI_OK : cli_fail_memory(c);
}

static char *select_of(const cli_board *b, bool plain, const char *where) {
  sqlite3_str *sql = sqlite3_str_new(NULL);
  sqlite3_str_appendall(sql, plain ? "SELECT" : "SELECT *");
  for (int i = 0; plain && i < MOST_SHOWN && b->columns[i].name; i++)
    sqlite3_str_appendf(sql, "%s %s AS \"%w\"", i ? "," : "", b->columns[i].sql,
                        b->columns[i].name);
  sqlite3_str_appendf(sql, " FROM eval_%s(?1, ?2) AS b%s%s", b->verb, where,
                      plain && b->order ? b->order : "");
  return sqlite3_str_finish(sql);
}

static int ask_board(const cli *c, const cli_results *r) {
  const char *first = model_given(c, CLI_A, CLI_BASELINE);
  const char *second = model_given(c, CLI_B, CLI_CANDIDATE);
  const cli_board *b = board_of(c->verb, first && second);
  int status = CLI_OK;
  bool plain = cli_is_plain(c);
  char *sql = select_of(b, plain, where_of(first, second));
  if (!sql) return cli_fail_memory(c);
  sqlite3_stmt *asked = cli_ask(c, r, sql);
  sqlite3_free(sql);
  if (!asked) return CLI_ERROR;
  if (!bind_models(asked, first, second))
    status = cli_fail_results(c, r);
  else if (plain)
    status = print_board(c, r, b, asked);
  else if (cli_stream_rows(c, asked) != SQLITE_DONE)
    status = cli_fail_results(c, r);
  sqlite3_finalize(asked);
  return status;
}

int cli_run_board(cli *c) {
  cli_results r;
  if (!cli_open_results(c, c->names, c->count, &r)) return CLI_ERROR;
  bool votes = strcmp(c->verb->name, "votes") == 0;
  int status = CLI_ERROR;
  if (!votes && strcmp(r.source, "votes") == 0)
    cli_fail(c, "these are votes, which are not right or wrong; evalci votes reads them");
  else if (votes && !r.path && strcmp(r.source, "votes") != 0)
    cli_fail(c, "these are not votes, which have columns model_a, model_b and winner; evalci "
                "leaderboard reads answers");
  else
    status = ask_board(c, &r);
  cli_close_results(&r);
  return status;
}
