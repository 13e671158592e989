/*
** The verbs, and what help says of each.
*/
#include "cli.h"

#define ROWS "[--json|--csv|--markdown]"

static const char *const help_leaderboard[] = {
    "Each model with its accuracy, the interval around it, and the ranks that it may have, the "
    "best first. A rank of 1–3 means that these questions cannot decide which of three models is "
    "first. P(best) is the chance that a model is the best of all.",
    "  evalci leaderboard results.csv",
    "results.csv needs the columns model, item (the question) and correct (1 or 0) or score. "
    "Common other names are recognised; name any others: --item question --correct ok.",
    "Answers that errored are left out; --errors wrong counts them as wrong.", NULL};
static const char *const help_compare[] = {
    "Every pair of models on the questions that both answered: the difference A - B, its "
    "interval, and a verdict. p and verdict are corrected for testing all pairs (Holm's method), "
    "except for a pair that you name by --a and --b. --a alone shows all pairs of that model.",
    "Graded answers: \"unless it sometimes fails outright\" means that a few answers with the "
    "worst score could undo the lead, which is clear on answers like those seen.",
    "  evalci compare evals.db --a new --b old", NULL};
static const char *const help_tasks[] = {"Each model on each task (benchmark, suite, category).",
                                         "  evalci tasks evals.db --markdown", NULL};
static const char *const help_passes[] = {
    "For questions with several attempts: the chance that at least one of k attempts is right "
    "(pass@k), and that all are (pass^k).",
    "  evalci passes results.jsonl", NULL};
static const char *const help_noise[] = {
    "For questions with several attempts: how much of the variance of one answer comes from tasks "
    "(some are harder than others), from questions (some questions of a task are harder), and from "
    "reruns (the same question asked again). If the questions' share is large, ask more questions; "
    "asking the same ones again lowers only the reruns' share. The shares miss where questions are "
    "of two kinds, nearly always right and mostly wrong, and were asked many times.",
    "  evalci noise results.jsonl", NULL};
static const char *const help_slices[] = {
    "Two models task by task: which tasks regressed? A is the old model and B the new one; a "
    "positive difference means that the new one got worse. p is corrected for testing all tasks "
    "(Benjamini and Hochberg), so that one task of 57 is not called worse by chance.",
    "  evalci slices evals.db --baseline old --candidate new", NULL};
static const char *const help_questions[] = {
    "Each question: how many models answered it, how difficult it is, and whether the models "
    "that are right on it are good on the others (item-rest correlation). Notes mark questions "
    "that all models or none have right, and those whose answer key may be wrong. These come "
    "first, then those that no model has right, then the most difficult.",
    "  evalci questions evals.db --csv > questions.csv", NULL};
static const char *const help_votes[] = {
    "Ratings from votes, each of which compares two models, as in an arena: each model with its "
    "rating, the interval around it, and the ranks that it may have, the best first. A tie is an "
    "outcome of its own, not half a win.",
    "  evalci votes votes.csv",
    "  evalci votes votes.csv --anchor gpt-4 --base 1114",
    "votes.csv needs the columns model_a, model_b and winner; name any others by --model-a, "
    "--model-b and --winner. winner is model_a, model_b, tie or both_bad, or model_a's score: 1, 0 "
    "or 0.5.",
    "With --anchor, ratings are relative to that model, and so are their intervals. With "
    "--position, model_a is the one shown first, and the table says how often it would win "
    "against an equal.",
    NULL};
static const char *const help_report[] = {
    "A page of HTML to read and to send: leaderboard, comparisons, tasks, and how it was done; for "
    "votes, the ratings. It is one file and loads nothing. An existing page of that name is "
    "replaced.",
    "  evalci report results.csv -o report.html --title 'Spring eval'", NULL};
static const char *const help_import[] = {
    "Reads results into the table results of a SQLite database, one row per answer. The "
    "database is created if there is none. Either everything is imported or nothing; importing "
    "the same files again changes nothing.",
    "  evalci import logs/ more.csv -o evals.db", "evalci formats lists what it reads.", NULL};
static const char *const help_gate[] = {
    "For CI: may the candidate replace the baseline? Pass: it is surely not worse by more than the "
    "margin. Fail: it surely is. Unsure: there are too few questions to decide; the message says "
    "about how many more would decide. --sure sets how sure.",
    "  evalci gate evals.db --baseline old --candidate new --margin 0.02",
    "  evalci gate evals.db --candidate new --min 0.85",
    "Exit status: 0 pass, 1 fail, 2 unsure, 3 error. An answer that errored counts as wrong. With "
    "--errors skip it is left out, and the gate passes only if it would pass whatever those "
    "answers were.",
    NULL};
static const char *const help_plan[] = {
    "How many questions does an eval need for an interval ten points wide at an accuracy of 0.80, "
    "with one or several attempts at each; to tell 0.80 from 0.85; or for a gate to pass? And "
    "which "
    "difference can a number of questions find?",
    "  evalci plan 0.80 --width 0.10",
    "  evalci plan 0.80 --width 0.10 --icc 0.5 --cost-question 1 --cost-attempt 0.2",
    "  evalci plan 0.80 0.85 --disagree 0.15",
    "  evalci plan 0.90 --min 0.80",
    "  evalci plan --questions 300 --disagree 0.15",
    "Two models that answer the same questions need fewer of them: the less the models disagree, "
    "the fewer. --disagree is the share of questions that only one of them has right. Take it from "
    "an earlier eval: evalci compare --json, (only_a + only_b) / n.",
    NULL};
static const char *const help_sql[] = {
    "Runs one SELECT, which may use every function of evalci. The answers are in the table "
    "results, or counts or votes in a table of that name. Nothing can be changed. Without RESULTS "
    "there is no table.",
    "  evalci sql results.csv \"SELECT bayes_ci(correct) FROM results GROUP BY model\"", NULL};
static const char *const help_formats[] = {
    "What evalci reads, how it recognises each format, and what its files become. --from takes a "
    "name of the first column.",
    "  evalci formats", NULL};
static const char *const help_help[] = {"What a verb does, an example, and its options.",
                                        "  evalci help gate", NULL};

const cli_verb cli_verbs[] = {
    {"leaderboard", "RESULTS... " ROWS, "each model with its interval, the best first",
     help_leaderboard, cli_run_board},
    {"compare", "RESULTS... [--a MODEL] [--b MODEL] " ROWS,
     "every pair of models on the questions that both answered", help_compare, cli_run_board},
    {"tasks", "RESULTS... " ROWS, "each model on each task", help_tasks, cli_run_board},
    {"passes", "RESULTS... " ROWS, "pass@k and pass^k, for questions with several attempts",
     help_passes, cli_run_board},
    {"noise", "RESULTS... " ROWS, "whether tasks, questions or reruns make answers vary",
     help_noise, cli_run_board},
    {"slices", "RESULTS... [--baseline OLD] [--candidate NEW] " ROWS,
     "two models task by task: what regressed?", help_slices, cli_run_board},
    {"questions", "RESULTS... " ROWS, "each question: difficulty, and whether its key may be wrong",
     help_questions, cli_run_board},
    {"votes", "VOTES... [--anchor MODEL] [--position] " ROWS,
     "an arena's votes: each model's rating with its interval", help_votes, cli_run_board},
    {"report", "RESULTS... -o report.html [--title TEXT] [--note TEXT]",
     "all of the above as a page of HTML", help_report, cli_run_report},
    {"import", "RESULTS... -o evals.db", "other tools' results into a database", help_import,
     cli_run_import},
    {"gate",
     "RESULTS... --candidate NEW (--baseline OLD [--margin 0.02] | --min 0.85) [--sure 0.95]",
     "for CI: may the new model replace the old?", help_gate, cli_run_gate},
    {"plan",
     "ACCURACY --width SHARE [--icc SHARE --cost-question NUMBER --cost-attempt NUMBER] | ACCURACY "
     "ACCURACY [--disagree SHARE] | ACCURACY --min SHARE [--sure 0.95] | --questions N",
     "how many questions an eval needs", help_plan, cli_run_plan},
    {"sql", "[RESULTS...] \"SELECT ...\" " ROWS, "any query, with every function of evalci",
     help_sql, cli_run_sql},
    {"formats", "", "the formats that it reads", help_formats, cli_run_formats},
    {"help", "[VERB]", "this text, or the help of a verb", help_help, cli_run_help},
    {0}};
