/*
** The extension's entry point, and the table of every function it registers.
*/
#include "../evalci.h"

#include <string.h>

#include <gsl/gsl_errno.h>

#include "../stats/agreement.h"
#include "../stats/anytime.h"
#include "../stats/fisher.h"
#include "../stats/icc.h"
#include "../stats/judged.h"
#include "../stats/macro.h"
#include "../stats/mcnemar.h"
#include "../stats/metrics.h"
#include "../stats/paired.h"
#include "../stats/pass.h"
#include "../stats/proportion.h"
#include "../stats/quantile.h"
#include "../stats/ratio.h"
#include "../stats/sign_flip.h"
#include "../stats/unpaired.h"
#include "boards.h"
#include "function.h"
#include "table.h"

#ifdef SQLITE_CORE
#define EXTENSION_INIT(api) (void)(api)
#else
SQLITE_EXTENSION_INIT1
#define EXTENSION_INIT(api) SQLITE_EXTENSION_INIT2(api)
#endif

static void evalci_version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_text(context, EVALCI_VERSION, -1, SQLITE_STATIC);
}

static const evalci_kind version_kind = {.scalar = evalci_version};

/* The cells in which one column has a given result, whatever the other column has. */
enum {
  A_RIGHT = EVALCI_BOTH | EVALCI_ONLY_FIRST | EVALCI_RIGHT,
  A_GIVEN = A_RIGHT | EVALCI_ONLY_SECOND | EVALCI_NEITHER | EVALCI_WRONG,
  B_RIGHT = EVALCI_BOTH | EVALCI_ONLY_SECOND | EVALCI_SECOND_RIGHT,
  B_GIVEN = B_RIGHT | EVALCI_ONLY_FIRST | EVALCI_NEITHER | EVALCI_SECOND_WRONG,
};

static const evalci_layout one_proportion = {
    {"y"}, {"k", "n"}, {A_RIGHT, A_GIVEN}, .separate_questions = true};
static const evalci_layout unpaired = {{"a", "b"},
                                       {"k_a", "n_a", "k_b", "n_b"},
                                       {A_RIGHT, A_GIVEN, B_RIGHT, B_GIVEN},
                                       .separate_questions = true};
static const evalci_layout paired = {
    .columns = {"a", "b"},
    .counts = {"both", "only_a", "only_b", "neither"},
    .cells = {EVALCI_BOTH, EVALCI_ONLY_FIRST, EVALCI_ONLY_SECOND, EVALCI_NEITHER}};
static const evalci_layout discordant = {
    {"a", "b"}, {"only_a", "only_b"}, {EVALCI_ONLY_FIRST, EVALCI_ONLY_SECOND}, .none_counts = true};
static const evalci_layout graded_or_not = {
    .columns = {"y"},
    .counts = {"right", "wrong", "not_graded"},
    .cells = {EVALCI_RIGHT, EVALCI_WRONG, EVALCI_NOT_GRADED}};
/* Answers that a person labelled, by verdict and truth; and the answers with a verdict alone. */
static const evalci_layout verdicts = {.columns = {"verdict", "truth"},
                                       .counts = {"right_right", "right_wrong", "wrong_right",
                                                  "wrong_wrong", "judged_right", "judged"},
                                       .cells = {EVALCI_BOTH, EVALCI_ONLY_FIRST, EVALCI_ONLY_SECOND,
                                                 EVALCI_NEITHER, EVALCI_RIGHT,
                                                 EVALCI_RIGHT | EVALCI_WRONG}};
/* Rows are (truth, predicted): only the first is a false negative. */
enum { TP = EVALCI_BOTH, FN = EVALCI_ONLY_FIRST, FP = EVALCI_ONLY_SECOND };
static const evalci_layout confusion = {
    .columns = {"truth", "predicted"}, .counts = {"tp", "fp", "fn"}, .cells = {TP, FP, FN}};
static const evalci_layout predicted_positive = {
    .columns = {"truth", "predicted"}, .counts = {"tp", "fp"}, .cells = {TP, FP}};
static const evalci_layout truly_positive = {
    .columns = {"truth", "predicted"}, .counts = {"tp", "fn"}, .cells = {TP, FN}};

enum {
  LEVEL = EVALCI_LEVEL,
  POWER_LEVEL = EVALCI_POWER | EVALCI_LEVEL,
  LEVEL_BETA = EVALCI_LEVEL | EVALCI_BETA,
  LEVEL_ALPHA_BETA = EVALCI_LEVEL | EVALCI_ALPHA_BETA,
  MARGIN_ALPHA_BETA = EVALCI_MARGIN | EVALCI_ALPHA_BETA,
  LEVEL_DIRICHLET = EVALCI_LEVEL | EVALCI_DIRICHLET,
  LEVEL_RANGE = EVALCI_LEVEL | EVALCI_RANGE,
  MARGIN_RANGE = EVALCI_MARGIN | EVALCI_RANGE,
  LEVEL_HIERARCHY = EVALCI_LEVEL | EVALCI_HIERARCHY,
  LEVEL_VOTING = EVALCI_LEVEL | EVALCI_VOTING,
  K_LEVEL = EVALCI_ATTEMPTS | EVALCI_LEVEL,
  Q_LEVEL = EVALCI_QUANTILE | EVALCI_LEVEL,
  LOSS_RANGE = EVALCI_LOSS | EVALCI_RANGE,
  LEVEL_ICC = LEVEL_HIERARCHY | EVALCI_ICC,
  LEVEL_WEIGHTS = EVALCI_LEVEL | EVALCI_WEIGHTS,
  LEVEL_METRIC = EVALCI_LEVEL | EVALCI_METRIC,
  T_BETA = EVALCI_THRESHOLD | EVALCI_BETA,
  T_RANGE = EVALCI_THRESHOLD | EVALCI_RANGE,
  T_ICC = EVALCI_THRESHOLD | EVALCI_HIERARCHY | EVALCI_ICC,
};

static const evalci_function functions[] = {
    {"bayes_ci", &evalci_of_rows, LEVEL_BETA, &one_proportion, .ci.counts = ev_bayes},
    {"bayes_ci_counts", &evalci_of_counts, LEVEL_BETA, &one_proportion, .ci.counts = ev_bayes},
    {"jeffreys_ci", &evalci_of_rows, LEVEL, &one_proportion, .ci.counts = ev_jeffreys},
    {"jeffreys_ci_counts", &evalci_of_counts, LEVEL, &one_proportion, .ci.counts = ev_jeffreys},
    {"hdi_ci", &evalci_of_rows, LEVEL_BETA, &one_proportion, .ci.counts = ev_hdi},
    {"hdi_ci_counts", &evalci_of_counts, LEVEL_BETA, &one_proportion, .ci.counts = ev_hdi},
    {"wilson_ci", &evalci_of_rows, LEVEL, &one_proportion, .ci.counts = ev_wilson},
    {"wilson_ci_counts", &evalci_of_counts, LEVEL, &one_proportion, .ci.counts = ev_wilson},
    {"cp_ci", &evalci_of_rows, LEVEL, &one_proportion, .ci.counts = ev_cp},
    {"cp_ci_counts", &evalci_of_counts, LEVEL, &one_proportion, .ci.counts = ev_cp},
    {"midp_ci", &evalci_of_rows, LEVEL, &one_proportion, .ci.counts = ev_midp},
    {"midp_ci_counts", &evalci_of_counts, LEVEL, &one_proportion, .ci.counts = ev_midp},
    {"agresti_coull_ci", &evalci_of_rows, LEVEL, &one_proportion, .ci.counts = ev_agresti_coull},
    {"agresti_coull_ci_counts", &evalci_of_counts, LEVEL, &one_proportion,
     .ci.counts = ev_agresti_coull},
    {"clt_ci", &evalci_of_rows, LEVEL, &one_proportion, .ci.counts = ev_clt},
    {"clt_ci_counts", &evalci_of_counts, LEVEL, &one_proportion, .ci.counts = ev_clt},
    {"prob_above", &evalci_of_rows, T_BETA, &one_proportion, .p.counts = ev_prob_above},
    {"prob_above_counts", &evalci_of_counts, T_BETA, &one_proportion, .p.counts = ev_prob_above},
    {"bounded_ci", &evalci_of_rows, LEVEL, &graded_or_not, .ci.counts = ev_bounded},
    {"bounded_ci_counts", &evalci_of_counts, LEVEL, &graded_or_not, .ci.counts = ev_bounded},

    {"clustered_ci", &evalci_of_clusters, LEVEL_HIERARCHY, .rows = &evalci_clustered_results,
     .ci.clusters = ev_clustered},
    {"clustered_ci_counts", &evalci_of_clusters, LEVEL_HIERARCHY, .rows = &evalci_given_clusters,
     .ci.clusters = ev_clustered},
    {"clustered_clt_ci", &evalci_of_clusters, LEVEL, .rows = &evalci_clustered_results,
     .ci.clusters = ev_clustered_clt},
    {"clustered_clt_ci_counts", &evalci_of_clusters, LEVEL, .rows = &evalci_given_clusters,
     .ci.clusters = ev_clustered_clt},
    {"clustered_each", &evalci_each_of_clusters, LEVEL_ICC, .rows = &evalci_clustered_results},
    {"clustered_each_counts", &evalci_each_of_clusters, LEVEL_ICC,
     .rows = &evalci_labelled_clusters},
    {"clustered_prob_above", &evalci_of_clusters, T_ICC, .rows = &evalci_clustered_results,
     .p.clusters = ev_clustered_prob_above},
    {"clustered_prob_above_counts", &evalci_of_clusters, T_ICC, .rows = &evalci_given_clusters,
     .p.clusters = ev_clustered_prob_above},
    {"nested_ci", &evalci_nested, LEVEL_ICC, .rows = &evalci_nested_attempts},
    {"nested_ci_counts", &evalci_nested, LEVEL_ICC, .rows = &evalci_nested_questions},
    {"nested_each", &evalci_nested_each, LEVEL_ICC, .rows = &evalci_nested_attempts},
    {"nested_each_counts", &evalci_nested_each, LEVEL_ICC, .rows = &evalci_nested_labelled},
    {"noise", &evalci_nested_noise, LEVEL_ICC, .rows = &evalci_nested_attempts},
    {"noise_counts", &evalci_nested_noise, LEVEL_ICC, .rows = &evalci_nested_questions},
    {"pass_at_k_ci", &evalci_of_attempts, K_LEVEL, .rows = &evalci_attempted_items,
     .ci.clusters = ev_pass_at_k},
    {"pass_at_k_ci_counts", &evalci_of_attempts, K_LEVEL, .rows = &evalci_given_items,
     .ci.clusters = ev_pass_at_k},
    {"pass_hat_k_ci", &evalci_of_attempts, K_LEVEL, .rows = &evalci_attempted_items,
     .ci.clusters = ev_pass_hat_k},
    {"pass_hat_k_ci_counts", &evalci_of_attempts, K_LEVEL, .rows = &evalci_given_items,
     .ci.clusters = ev_pass_hat_k},
    {"icc_ci", &evalci_of_clusters, LEVEL, .rows = &evalci_attempted_items, .ci.clusters = ev_icc},
    {"icc_ci_counts", &evalci_of_clusters, LEVEL, .rows = &evalci_given_clusters,
     .ci.clusters = ev_icc},
    {"rerun_ci", &evalci_of_reruns, LEVEL, .rows = &evalci_attempted_items,
     .ci.clusters = ev_rerun},
    {"rerun_prob", &evalci_of_two_reruns, 0, .rows = &evalci_two_attempted},
    {"macro_ci", &evalci_of_tasks, LEVEL_RANGE, .rows = &evalci_scores_by_task},
    {"macro_ci_counts", &evalci_of_clusters, LEVEL, .rows = &evalci_given_clusters,
     .ci.clusters = ev_macro_counts},
    {"pass_at_k", .kind = &evalci_pass_at_k},
    {"pass_hat_k", .kind = &evalci_pass_hat_k},

    {"prob_better", &evalci_of_rows, MARGIN_ALPHA_BETA, &unpaired, .p.counts = ev_prob_better},
    {"prob_better_counts", &evalci_of_counts, MARGIN_ALPHA_BETA, &unpaired,
     .p.counts = ev_prob_better},
    {"diff_ci", &evalci_of_rows, LEVEL_ALPHA_BETA, &unpaired, .ci.counts = ev_diff},
    {"diff_ci_counts", &evalci_of_counts, LEVEL_ALPHA_BETA, &unpaired, .ci.counts = ev_diff},
    {"odds_ratio_ci", &evalci_of_rows, LEVEL_ALPHA_BETA, &unpaired, .ci.counts = ev_odds_ratio},
    {"odds_ratio_ci_counts", &evalci_of_counts, LEVEL_ALPHA_BETA, &unpaired,
     .ci.counts = ev_odds_ratio},
    {"fisher_or_ci", &evalci_of_rows, LEVEL, &unpaired, .ci.counts = ev_fisher_or},
    {"fisher_or_ci_counts", &evalci_of_counts, LEVEL, &unpaired, .ci.counts = ev_fisher_or},
    {"diff_clt_ci", &evalci_of_rows, LEVEL, &unpaired, .ci.counts = ev_diff_clt},
    {"diff_clt_ci_counts", &evalci_of_counts, LEVEL, &unpaired, .ci.counts = ev_diff_clt},

    {"paired_prob_better", &evalci_of_rows, EVALCI_MARGIN, &paired,
     .p.counts = ev_paired_prob_better},
    {"paired_prob_better_counts", &evalci_of_counts, EVALCI_MARGIN, &paired,
     .p.counts = ev_paired_prob_better},
    {"paired_diff_ci", &evalci_of_rows, LEVEL, &paired, .ci.counts = ev_paired_diff},
    {"paired_diff_ci_counts", &evalci_of_counts, LEVEL, &paired, .ci.counts = ev_paired_diff},
    {"paired_diff_clt_ci", &evalci_of_rows, LEVEL, &paired, .ci.counts = ev_paired_diff_clt},
    {"paired_diff_clt_ci_counts", &evalci_of_counts, LEVEL, &paired,
     .ci.counts = ev_paired_diff_clt},
    {"mcnemar_p", &evalci_of_rows, 0, &discordant, .p.counts = ev_mcnemar_p},
    {"mcnemar_p_counts", &evalci_of_counts, 0, &discordant, .p.counts = ev_mcnemar_p},

    {"ranks", &evalci_ranks_of_labels, LEVEL, .rows = &evalci_labelled_results},
    {"ranks_counts", &evalci_ranks_of_labels, LEVEL, .rows = &evalci_labelled_counts},

    {"bt_ratings", &evalci_rated_models, LEVEL_VOTING, .rows = &evalci_votes},
    {"bt_ratings_counts", &evalci_rated_models, LEVEL_VOTING, .rows = &evalci_vote_counts},
    {"bt_pairs", &evalci_rated_pairs, LEVEL_VOTING, .rows = &evalci_votes},
    {"bt_pairs_counts", &evalci_rated_pairs, LEVEL_VOTING, .rows = &evalci_vote_counts},

    {"plan_runs", &evalci_planned_runs, LEVEL, .plan = &evalci_plan_runs},
    {"plan_gate_n", &evalci_planned, EVALCI_SURE | EVALCI_POWER, .plan = &evalci_plan_gate},
    {"plan_n", &evalci_planned, LEVEL, .plan = &evalci_plan_n},
    {"power_paired", &evalci_planned, LEVEL, .plan = &evalci_power_paired},
    {"plan_paired_n", &evalci_planned, POWER_LEVEL, .plan = &evalci_plan_paired},
    {"power_diff", &evalci_planned, LEVEL, .plan = &evalci_power_diff},
    {"plan_diff_n", &evalci_planned, POWER_LEVEL, .plan = &evalci_plan_diff},
    {"detectable_diff", &evalci_planned, POWER_LEVEL, .plan = &evalci_detectable},

    {"anytime_ci", &evalci_of_rows, LEVEL_BETA, &one_proportion, .ci.counts = ev_anytime},
    {"anytime_ci_counts", &evalci_of_counts, LEVEL_BETA, &one_proportion, .ci.counts = ev_anytime},
    {"anytime_paired_diff_ci", &evalci_of_rows, LEVEL, &paired,
     .ci.counts = ev_anytime_paired_diff},
    {"anytime_paired_diff_ci_counts", &evalci_of_counts, LEVEL, &paired,
     .ci.counts = ev_anytime_paired_diff},

    {"judged_ci", &evalci_of_rows, LEVEL, &verdicts, .ci.counts = ev_judged},
    {"judged_ci_counts", &evalci_of_counts, LEVEL, &verdicts, .ci.counts = ev_judged},
    {"judged_mean_ci", &evalci_of_judged, LEVEL_RANGE, .rows = &evalci_judged_scores},
    {"judged_mean_ci_counts", &evalci_of_judged, LEVEL_RANGE, .rows = &evalci_judged_counts},
    {"judged_diff_ci", &evalci_of_judged_differences, LEVEL_RANGE,
     .rows = &evalci_judged_differences},
    {"judged_diff_ci_counts", &evalci_of_judged_differences, LEVEL_RANGE,
     .rows = &evalci_judged_difference_counts},

    {"kappa_ci", &evalci_of_paired_ratings, LEVEL_WEIGHTS, .rows = &evalci_paired_ratings,
     .ci.table = ev_table_kappa},
    {"kappa_table_ci", &evalci_of_paired_ratings, LEVEL_WEIGHTS, .rows = &evalci_counted_ratings,
     .ci.table = ev_table_kappa},
    {"kappa_ci_counts", &evalci_of_counts, LEVEL, &paired, .ci.counts = ev_kappa},
    {"ac1_ci", &evalci_of_paired_ratings, LEVEL, .rows = &evalci_paired_ratings,
     .ci.table = ev_table_ac1},
    {"ac1_ci_counts", &evalci_of_counts, LEVEL, &paired, .ci.counts = ev_ac1},
    {"alpha_ci", &evalci_of_unit_ratings, LEVEL_METRIC, .rows = &evalci_unit_ratings,
     .ci.ratings = ev_alpha},
    {"kappa", &evalci_of_paired_ratings, EVALCI_WEIGHTS, .rows = &evalci_paired_ratings,
     .p.table = ev_table_kappa_point},
    {"ac1", &evalci_of_paired_ratings, 0, .rows = &evalci_paired_ratings,
     .p.table = ev_table_ac1_point},
    {"alpha", &evalci_of_unit_ratings, EVALCI_METRIC, .rows = &evalci_unit_ratings,
     .p.ratings = ev_alpha_point},

    {"f1_ci", &evalci_of_rows, LEVEL_DIRICHLET, &confusion, .ci.counts = ev_f1},
    {"f1_ci_counts", &evalci_of_counts, LEVEL_DIRICHLET, &confusion, .ci.counts = ev_f1},
    {"precision_ci", &evalci_of_rows, LEVEL_DIRICHLET, &predicted_positive,
     .ci.counts = ev_precision},
    {"precision_ci_counts", &evalci_of_counts, LEVEL_DIRICHLET, &predicted_positive,
     .ci.counts = ev_precision},
    {"recall_ci", &evalci_of_rows, LEVEL_DIRICHLET, &truly_positive, .ci.counts = ev_recall},
    {"recall_ci_counts", &evalci_of_counts, LEVEL_DIRICHLET, &truly_positive,
     .ci.counts = ev_recall},

    {"mean_ci", &evalci_of_scores, LEVEL_RANGE, .rows = &evalci_ranged_scores,
     .ci.scores = ev_mean},
    {"mean_ci_counts", &evalci_of_scores, LEVEL_RANGE, .rows = &evalci_ranged_counts,
     .ci.scores = ev_mean},
    {"mean_prob_above", &evalci_of_scores, T_RANGE, .rows = &evalci_ranged_scores,
     .p.scores = ev_mean_prob_above},
    {"mean_prob_above_counts", &evalci_of_scores, T_RANGE, .rows = &evalci_ranged_counts,
     .p.scores = ev_mean_prob_above},
    {"mean_lmt_ci", &evalci_of_scores, LEVEL_RANGE, .rows = &evalci_ranged_scores,
     .ci.scores = ev_mean_lmt},
    {"mean_lmt_ci_counts", &evalci_of_scores, LEVEL_RANGE, .rows = &evalci_ranged_counts,
     .ci.scores = ev_mean_lmt},
    {"mean_t_ci", &evalci_of_moments, LEVEL, .rows = &evalci_summed_scores,
     .ci.moments = ev_mean_t},
    {"mean_t_ci_counts", &evalci_of_moments, LEVEL, .rows = &evalci_summed_counts,
     .ci.moments = ev_mean_t},
    {"mean_clt_ci", &evalci_of_moments, LEVEL, .rows = &evalci_summed_scores,
     .ci.moments = ev_mean_clt},
    {"mean_clt_ci_counts", &evalci_of_moments, LEVEL, .rows = &evalci_summed_counts,
     .ci.moments = ev_mean_clt},
    {"weighted_mean_ci", &evalci_of_weighted, LEVEL_RANGE, .rows = &evalci_weighted_scores,
     .ci.weighted = ev_weighted_mean},
    {"clustered_mean_ci", &evalci_of_units, LEVEL_RANGE, .rows = &evalci_clustered_scores,
     .ci.units = ev_clustered_mean},
    {"clustered_mean_ci_counts", &evalci_of_units, LEVEL_RANGE, .rows = &evalci_given_totals,
     .ci.units = ev_clustered_mean},

    {"quantile_ci", &evalci_of_scores, Q_LEVEL, .rows = &evalci_values, .ci.scores = ev_quantile},
    {"quantile_ci_counts", &evalci_of_scores, Q_LEVEL, .rows = &evalci_value_counts,
     .ci.scores = ev_quantile},
    {"ratio_ci", &evalci_of_units, LEVEL, .rows = &evalci_totals_and_counts, .ci.units = ev_ratio},
    {"ratio_ci_counts", &evalci_of_units, LEVEL, .rows = &evalci_counted_amounts,
     .ci.units = ev_ratio},

    {"mean_diff_ci", &evalci_of_two_scores, LEVEL_RANGE, .rows = &evalci_unpaired_scores,
     .ci.two_scores = ev_mean_diff},
    {"mean_prob_better", &evalci_of_two_scores, MARGIN_RANGE, .rows = &evalci_unpaired_scores,
     .p.two_scores = ev_mean_prob_better},
    {"paired_mean_diff_ci", &evalci_of_scores, LEVEL_RANGE, .rows = &evalci_paired_scores,
     .ci.scores = ev_paired_mean_diff},
    {"paired_mean_diff_ci_counts", &evalci_of_scores, LEVEL_RANGE, .rows = &evalci_paired_counts,
     .ci.scores = ev_paired_mean_diff},
    {"paired_mean_prob_better", &evalci_of_scores, MARGIN_RANGE, .rows = &evalci_paired_scores,
     .p.scores = ev_paired_mean_prob_better},
    {"paired_mean_prob_better_counts", &evalci_of_scores, MARGIN_RANGE,
     .rows = &evalci_paired_counts, .p.scores = ev_paired_mean_prob_better},
    {"no_worse_prob", &evalci_of_scores, LOSS_RANGE, .rows = &evalci_paired_scores,
     .p.scores = ev_no_worse_prob},
    {"no_worse_prob_counts", &evalci_of_scores, LOSS_RANGE, .rows = &evalci_paired_counts,
     .p.scores = ev_no_worse_prob},
    {"paired_p", &evalci_of_scores, 0, .rows = &evalci_paired_any_scores, .p.scores = ev_paired_p},
    {"paired_p_counts", &evalci_of_scores, 0, .rows = &evalci_paired_any_counts,
     .p.scores = ev_paired_p},
    {"clustered_diff_ci", &evalci_of_units, LEVEL_RANGE, .rows = &evalci_clustered_differences,
     .ci.units = ev_clustered_mean_diff},
    {"clustered_diff_ci_counts", &evalci_of_units, LEVEL_RANGE, .rows = &evalci_given_differences,
     .ci.units = ev_clustered_mean_diff},
    {"clustered_prob_better", &evalci_of_units, MARGIN_RANGE, .rows = &evalci_clustered_differences,
     .p.units = ev_clustered_mean_prob_better},
    {"clustered_prob_better_counts", &evalci_of_units, MARGIN_RANGE,
     .rows = &evalci_given_differences, .p.units = ev_clustered_mean_prob_better},

    {"ci_lo", .kind = &evalci_lo},
    {"ci_hi", .kind = &evalci_hi},
    {"ci_width", .kind = &evalci_width},
    {"ci_text", &evalci_text, .options = EVALCI_DIGITS | EVALCI_UNIT},
    {"ci_bar", &evalci_bar, .options = EVALCI_POINT | EVALCI_WIDTH},
    {"forest_svg", &evalci_picture_of_rows, EVALCI_DRAWING, .picture = &evalci_forest},
    {"heatmap_svg", &evalci_picture_of_rows, EVALCI_DRAWING, .picture = &evalci_heatmap},
    {"evalci_version", .kind = &version_kind},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

const evalci_function *evalci_function_named(const char *name) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  return NULL;
}

/* Registers one arity; -1 is any number.  A name is a scalar at every arity or an aggregate at
** every arity (contract 1), and every aggregate is a window function (6). */
static int register_arity(sqlite3 *db, const evalci_function *f, int arity, const evalci_kind *kind,
                          evalci_shared *shared) {
  int flags = EVALCI_FLAGS | (f->kind->json || f->ci.any ? SQLITE_RESULT_SUBTYPE : 0);
  void *row = shared ? evalci_shared_row(shared, f) : (void *)f;
  void (*destroy)(void *) = shared ? evalci_free_row : NULL;
  if (!row) return SQLITE_NOMEM;
  if (kind->scalar)
    return sqlite3_create_function_v2(db, f->name, arity, flags, row, kind->scalar, NULL, NULL,
                                      destroy);
  if (kind->answer && !kind->step)
    return sqlite3_create_window_function(db, f->name, arity, flags, row, evalci_gathered_step,
                                          evalci_gathered_final, evalci_gathered_value,
                                          evalci_gathered_inverse, destroy);
  return sqlite3_create_window_function(db, f->name, arity, flags, row, kind->step, kind->final,
                                        kind->value, kind->inverse, destroy);
}

/* Registers every arity: without options, with the first, with the first two and so on; and an
** error for any other number of arguments. */
static int register_function(sqlite3 *db, const evalci_function *f, evalci_shared *shared) {
  int rc = SQLITE_OK;
  if (f->layout != &paired) shared = NULL; /* the functions of pairs share a posterior */
  for (int i = 0, arity; rc == SQLITE_OK && (arity = evalci_arity_of(f, i)) >= 0; i++)
    rc = register_arity(db, f, arity, f->kind, shared);
  return rc == SQLITE_OK ? register_arity(db, f, -1, evalci_wrong_arity_for(f->kind), NULL) : rc;
}

int sqlite3_evalci_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  EXTENSION_INIT(api);
  /* Contract 24. */
  if (sqlite3_libversion_number() < EVALCI_OLDEST_HOST) {
    if (error)
      *error =
          sqlite3_mprintf("evalci needs SQLite 3.25 or newer, this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  /* GSL's own handler calls abort(), which would take the host down.  The library has a
  ** private copy of GSL, so this reaches nobody else's (contract 13); a program with evalci
  ** built in shares the handler. */
  gsl_set_error_handler_off();
  evalci_shared *shared = evalci_share();
  int rc = shared ? SQLITE_OK : SQLITE_NOMEM;
  for (int i = 0; i < FUNCTIONS && rc == SQLITE_OK; i++)
    rc = register_function(db, &functions[i], shared);
  evalci_unshare(shared);
  if (rc == SQLITE_OK) rc = evalci_register_boards(db);
  if (rc == SQLITE_OK) rc = evalci_register_table(db, &evalci_ci_methods);
  /* SELECT load_extension() is itself a running statement, under which SQLite
  ** refuses to replace a function: the first load makes them, a second cannot. */
  if (rc == SQLITE_BUSY && error)
    *error = sqlite3_mprintf("evalci is loaded in this connection already");
  return rc;
}
