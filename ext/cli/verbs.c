/*
** The verbs, and what help says of each.
*/
#include "cli.h"

#define ROWS "[--json|--csv|--markdown]"

static const char *const help_leaderboard[] = {
    "Each model with its accuracy, the interval around it, and the ranks that are open to it, "
    "the best first. A rank of 1–3 means that the questions do not say which of three models is "
    "first. P(best) is the chance that a model is the best of all.",
    "  evalci leaderboard results.csv",
    "results.csv needs a column model, a column item (the question) and a column correct, 1 or "
    "0, or score. Other names are found as well, or named: --item question --correct ok.",
    "Answers that errored are left out; --errors wrong counts them as wrong.", NULL};
static const char *const help_compare[] = {
    "Every two models on the questions that both answered: the difference A - B, its interval, "
    "and whether it is real. The verdict allows for all the pairs that were looked at (Holm's "
    "method), but for a pair that you name.",
    "  evalci compare evals.db --a new --b old", NULL};
static const char *const help_tasks[] = {"Each model on each task (benchmark, suite, category).",
                                         "  evalci tasks evals.db --markdown", NULL};
static const char *const help_passes[] = {
    "Where questions were asked several times: the chance that at least one of k attempts is "
    "right (pass@k), and that all are (pass^k).",
    "  evalci passes results.jsonl", NULL};
static const char *const help_slices[] = {
    "Two models task by task: which tasks regressed? A is the old model and B the new one; a "
    "positive difference means that the new one got worse. p is held to all tasks (Benjamini "
    "and Hochberg), so that one task of 57 is not called worse by chance.",
    "  evalci slices evals.db --baseline old --candidate new", NULL};
static const char *const help_questions[] = {
    "Each question: how many models answered it, how difficult it is, and whether being right "
    "goes with being good elsewhere (item-rest correlation). Notes mark questions that all or "
    "no model has right, and those whose answer key may be wrong; these come first.",
    "  evalci questions evals.db --csv > questions.csv", NULL};
static const char *const help_report[] = {
    "A page of HTML to read and to send: leaderboard, comparisons, tasks, and how it was done. "
    "It needs nothing else and loads nothing. An older page of that name is replaced.",
    "  evalci report results.csv -o report.html --title 'Spring eval'", NULL};
static const char *const help_import[] = {
    "Reads results into the table results of a SQLite database, one row per answer. The "
    "database is made if there is none. All is imported or nothing; the same files again "
    "change nothing.",
    "  evalci import logs/ more.csv -o evals.db", "evalci formats lists what it reads.", NULL};
static const char *const help_gate[] = {
    "For CI: may the candidate replace the baseline? Pass: it is no more than the margin worse, "
    "that surely. Fail: it is more than that worse, that surely. Unsure: there are too few "
    "questions to say; the message says about how many more it would take.",
    "  evalci gate evals.db --baseline old --candidate new --margin 0.02",
    "  evalci gate evals.db --candidate new --min 0.85",
    "Ends with 0 pass, 1 fail, 2 unsure, 3 error. An answer that errored counts as wrong; with "
    "--errors skip it is left out, and the gate passes only if it would whatever those were.",
    NULL};
static const char *const help_plan[] = {
    "How many questions? To know an accuracy of 0.8 to within ten points, or to tell 0.80 from "
    "0.85; and what a number of questions can find.",
    "  evalci plan 0.80 --width 0.10",
    "  evalci plan 0.80 0.85 --disagree 0.15",
    "  evalci plan --questions 300 --disagree 0.15",
    "Two models that answer the same questions are told apart with fewer of them, the more "
    "so the less they disagree: --disagree is the share of questions that one of them alone has "
    "right. Take it from an earlier eval: evalci compare --json, (only_a + only_b) / n.",
    NULL};
static const char *const help_sql[] = {
    "One SELECT over the results, with every function of evalci; the table is results. Nothing "
    "is changed by it. Without RESULTS there is no table.",
    "  evalci sql results.csv \"SELECT bayes_ci(correct) FROM results GROUP BY model\"", NULL};
static const char *const help_formats[] = {
    "What evalci reads, how each format is told from the others, and what becomes of it. A name "
    "in the first column may be given as --from.",
    "  evalci formats", NULL};
static const char *const help_help[] = {"What a verb does, an example, and its options.",
                                        "  evalci help gate", NULL};

const cli_verb cli_verbs[] = {
    {"leaderboard", "RESULTS... " ROWS, "each model with its interval, the best first",
     help_leaderboard, cli_run_board},
    {"compare", "RESULTS... [--a MODEL] [--b MODEL] " ROWS,
     "every two models on the questions that both answered", help_compare, cli_run_board},
    {"tasks", "RESULTS... " ROWS, "each model on each task", help_tasks, cli_run_board},
    {"passes", "RESULTS... " ROWS, "pass@k and pass^k, where questions were asked again",
     help_passes, cli_run_board},
    {"slices", "RESULTS... [--baseline OLD] [--candidate NEW] " ROWS,
     "two models task by task: what regressed?", help_slices, cli_run_board},
    {"questions", "RESULTS... " ROWS, "each question: difficulty, and whether its key may be wrong",
     help_questions, cli_run_board},
    {"report", "RESULTS... -o report.html [--title TEXT] [--note TEXT]",
     "all of that as a page of HTML", help_report, cli_run_report},
    {"import", "RESULTS... -o evals.db", "other tools' results into a database", help_import,
     cli_run_import},
    {"gate",
     "RESULTS... --candidate NEW (--baseline OLD [--margin 0.02] | --min 0.85) [--sure 0.95]",
     "for CI: may the new model replace the old?", help_gate, cli_run_gate},
    {"plan", "ACCURACY --width SHARE | ACCURACY ACCURACY [--disagree SHARE] | --questions N",
     "how many questions an eval needs", help_plan, cli_run_plan},
    {"sql", "[RESULTS...] \"SELECT ...\" " ROWS, "any query, with every function of evalci",
     help_sql, cli_run_sql},
    {"formats", "", "what it reads", help_formats, cli_run_formats},
    {"help", "[VERB]", "this text, or that of a verb", help_help, cli_run_help},
    {0}};
