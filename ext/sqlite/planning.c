/*
** Scalars that plan an eval: rates and numbers of questions, to a number of questions, a
** chance, or a difference.  One call serves them all; a function's plan says what its
** arguments are, what they must be together, and what to compute.
*/
#include "../stats/planning.h"

#include "function.h"

/* What an argument is: a number of questions, a rate, or a width. */
typedef enum planned { QUESTIONS, RATE, WIDTH } planned;

enum { MOST_PLANNED = 4 };

struct evalci_plan {
  const char *names[MOST_PLANNED + 1];
  planned kinds[MOST_PLANNED];
  bool (*check)(evalci_call *call, const double *x);
  ev_status (*compute)(const double *x, const ev_options *options, ev_host host, double *out);
  bool whole;           /* the result is a number of questions */
  const char *hopeless; /* what to say when it is infinite */
};

static const char *const *plan_arguments(const evalci_function *f) {
  return f->plan->names;
}

/*
** Arguments
*/
static bool read_between(evalci_call *call, const char *name, sqlite3_value *value, bool ends,
                         double *x) {
  if (evalci_read_number(value, x) && (ends ? *x >= 0 && *x <= 1 : *x > 0 && *x < 1)) return true;
  return evalci_fail(call, "%s must be %s 0 %s 1, got %s; pass a share, not a count or per cents",
                     name, ends ? "from" : "strictly between", ends ? "to" : "and",
                     evalci_show(value).text);
}

static bool read_planned(evalci_call *call, const struct evalci_plan *plan, sqlite3_value **argv,
                         double *x) {
  for (int i = 0; plan->names[i]; i++)
    if (!(plan->kinds[i] == QUESTIONS
              ? evalci_read_count(call, plan->names[i], argv[i], &x[i])
              : read_between(call, plan->names[i], argv[i], plan->kinds[i] == RATE, &x[i])))
      return false;
  return true;
}

static bool any_rates(evalci_call *call, const double *x) {
  (void)call;
  (void)x;
  return true;
}

/* Rates of the two ways to disagree; a little more than 1 is rounding. */
static bool rates_of_pairs(evalci_call *call, const double *x) {
  if (x[0] + x[1] <= 1 + 1e-12) return true;
  return evalci_fail(call,
                     "only_a and only_b must add up to at most 1, got %.15g and %.15g; "
                     "they are the shares of questions that one model alone gets right",
                     x[0], x[1]);
}

static bool rates_after_n(evalci_call *call, const double *x) {
  return rates_of_pairs(call, x + 1);
}

static bool rates_that_differ(evalci_call *call, const double *x) {
  if (!rates_of_pairs(call, x)) return false;
  if (x[0] != x[1]) return true;
  return evalci_fail(call,
                     "only_a and only_b must differ, got %.15g twice; "
                     "no number of questions finds a difference that is not there",
                     x[0]);
}

static bool accuracies_that_differ(evalci_call *call, const double *x) {
  if (x[0] != x[1]) return true;
  return evalci_fail(call,
                     "p_a and p_b must differ, got %.15g twice; "
                     "no number of questions finds a difference that is not there",
                     x[0]);
}

/*
** What to compute
*/
static ev_status plan_n(const double *x, const ev_options *o, ev_host host, double *out) {
  (void)host;
  return ev_plan_n(x[0], x[1], o, out);
}

static ev_status power_paired(const double *x, const ev_options *o, ev_host host, double *out) {
  (void)host;
  return ev_power_paired(x[0], x[1], x[2], o, out);
}

static ev_status plan_paired(const double *x, const ev_options *o, ev_host host, double *out) {
  return ev_plan_paired(x[0], x[1], o->power, o, host, out);
}

static ev_status power_diff(const double *x, const ev_options *o, ev_host host, double *out) {
  (void)host;
  return ev_power_diff(x[0], x[1], x[2], x[3], o, out);
}

static ev_status plan_diff(const double *x, const ev_options *o, ev_host host, double *out) {
  return ev_plan_diff(x[0], x[1], o->power, o, host, out);
}

static ev_status detectable(const double *x, const ev_options *o, ev_host host, double *out) {
  (void)host;
  return ev_detectable(x[0], x[1], o->power, o, out);
}

#define TOO_MANY "it would take more than 2^53 questions; ask for less"

const struct evalci_plan evalci_plan_n = {{"p", "width"}, {RATE, WIDTH}, any_rates,
                                          plan_n,         true,          TOO_MANY};
const struct evalci_plan evalci_power_paired = {
    {"n", "only_a", "only_b"}, {QUESTIONS, RATE, RATE}, rates_after_n, power_paired, false, NULL};
const struct evalci_plan evalci_plan_paired = {
    {"only_a", "only_b"}, {RATE, RATE}, rates_that_differ, plan_paired, true, TOO_MANY};
const struct evalci_plan evalci_power_diff = {{"n_a", "n_b", "p_a", "p_b"},
                                              {QUESTIONS, QUESTIONS, RATE, RATE},
                                              any_rates,
                                              power_diff,
                                              false,
                                              NULL};
const struct evalci_plan evalci_plan_diff = {{"p_a", "p_b"}, {RATE, RATE}, accuracies_that_differ,
                                             plan_diff,      true,         TOO_MANY};
const struct evalci_plan evalci_detectable = {
    {"n", "discordant"},
    {QUESTIONS, RATE},
    any_rates,
    detectable,
    false,
    "no difference is found with that power, even if one model alone is right wherever they "
    "disagree; plan more questions"};

/* A number of questions of 0 has no answer but NULL (contract 10). */
static bool any_questions(const struct evalci_plan *plan, const double *x) {
  for (int i = 0; plan->names[i]; i++)
    if (plan->kinds[i] == QUESTIONS && x[i] == 0) return false;
  return true;
}

static void result_plan(sqlite3_context *context, const double *x, const ev_options *options) {
  const evalci_function *f = sqlite3_user_data(context);
  const struct evalci_plan *plan = f->plan;
  evalci_call call = {f->name, NULL};
  double out = NAN;
  ev_status status = plan->compute(x, options, evalci_host_of(context), &out);
  if (status == EV_OK && isinf(out)) {
    evalci_fail(&call, "%s", plan->hopeless);
    evalci_report(context, &call);
  } else if (plan->whole && status == EV_OK) {
    sqlite3_result_int64(context, (sqlite3_int64)out);
  } else {
    evalci_result_probability(context, f->name, status, out);
  }
}

static void planned_call(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = sqlite3_user_data(context);
  const struct evalci_plan *plan = f->plan;
  evalci_call call = {f->name, NULL};
  int size = evalci_arguments_of(f);
  double x[MOST_PLANNED];
  ev_options options;
  if (evalci_any_null(argc, argv)) return;
  if (!read_planned(&call, plan, argv, x) || !plan->check(&call, x) ||
      !evalci_read_options(&call, f->options, argc - size, argv + size, &options))
    evalci_report(context, &call);
  else if (any_questions(plan, x))
    result_plan(context, x, &options);
}

const evalci_kind evalci_planned = {.arguments = plan_arguments, .scalar = planned_call};
