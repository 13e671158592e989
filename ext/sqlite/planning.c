/*
** Scalars that plan an eval: rates, numbers of questions and costs, to a number of questions,
** a chance, a difference, or JSON with several.  One call serves them all; a function's plan
** says what its arguments are, what they must be together, and what to compute.
*/
#include "../stats/planning.h"

#include "function.h"

/* The type of an argument: a number of questions, a rate, a width, or a cost. */
typedef enum planned { QUESTIONS, RATE, WIDTH, COST } planned;

enum { MOST_PLANNED = 5, MOST_RESULTS = 3 };

struct evalci_plan {
  const char *names[MOST_PLANNED + 1];
  planned kinds[MOST_PLANNED];
  bool (*check)(evalci_call *call, const double *x);
  ev_status (*compute)(const double *x, const ev_options *options, ev_host host, double *out);
  bool whole;                        /* the result is a number of questions */
  const char *hopeless;              /* the message when it is infinite */
  const char *members[MOST_RESULTS]; /* of the JSON that the results are; or none */
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
  return evalci_fail(call, "%s must be %s 0 %s 1, got %s; pass a share, not a count or percentage",
                     name, ends ? "from" : "strictly between", ends ? "to" : "and",
                     evalci_show(value).text);
}

static bool read_one(evalci_call *call, planned kind, const char *name, sqlite3_value *value,
                     double *x) {
  if (kind == QUESTIONS) return evalci_read_count(call, name, value, x);
  if (kind == COST)
    return evalci_amount(value, x) ||
           evalci_fail(call, "%s must be a number from 0 to 3e150, got %s; 0 is free", name,
                       evalci_show(value).text);
  return read_between(call, name, value, kind == RATE, x);
}

static bool read_planned(evalci_call *call, const struct evalci_plan *plan, sqlite3_value **argv,
                         double *x) {
  for (int i = 0; plan->names[i]; i++)
    if (!read_one(call, plan->kinds[i], plan->names[i], argv[i], &x[i])) return false;
  return true;
}

static bool any_rates(evalci_call *call, const double *x) {
  (void)call;
  (void)x;
  return true;
}

/* Checks the rates of the two ways to disagree; a sum slightly above 1 is rounding. */
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

static bool above_threshold(evalci_call *call, const double *x) {
  if (x[0] > x[1]) return true;
  return evalci_fail(call,
                     "p must be above t, got p = %.15g and t = %.15g; no number of questions makes "
                     "a gate pass for an accuracy that is not above its threshold",
                     x[0], x[1]);
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

static ev_status questions_of_gate(const double *x, const ev_options *o, ev_host host,
                                   double *out) {
  return ev_plan_gate(x[0], x[1], o->level, o->power, host, out);
}

static ev_status cheapest_runs(const double *x, const ev_options *o, ev_host host, double *out) {
  (void)host;
  return ev_plan_runs(x[0], x[1], x[2], (ev_run_costs){x[3], x[4]}, o, out);
}

#define TOO_MANY "it would take more than 2^53 questions; ask for less"

const struct evalci_plan evalci_plan_n = {.names = {"p", "width"},
                                          .kinds = {RATE, WIDTH},
                                          .check = any_rates,
                                          .compute = plan_n,
                                          .whole = true,
                                          .hopeless = TOO_MANY};
const struct evalci_plan evalci_power_paired = {.names = {"n", "only_a", "only_b"},
                                                .kinds = {QUESTIONS, RATE, RATE},
                                                .check = rates_after_n,
                                                .compute = power_paired};
const struct evalci_plan evalci_plan_paired = {.names = {"only_a", "only_b"},
                                               .kinds = {RATE, RATE},
                                               .check = rates_that_differ,
                                               .compute = plan_paired,
                                               .whole = true,
                                               .hopeless = TOO_MANY};
const struct evalci_plan evalci_power_diff = {.names = {"n_a", "n_b", "p_a", "p_b"},
                                              .kinds = {QUESTIONS, QUESTIONS, RATE, RATE},
                                              .check = any_rates,
                                              .compute = power_diff};
const struct evalci_plan evalci_plan_diff = {.names = {"p_a", "p_b"},
                                             .kinds = {RATE, RATE},
                                             .check = accuracies_that_differ,
                                             .compute = plan_diff,
                                             .whole = true,
                                             .hopeless = TOO_MANY};
const struct evalci_plan evalci_detectable = {
    .names = {"n", "discordant"},
    .kinds = {QUESTIONS, RATE},
    .check = any_rates,
    .compute = detectable,
    .hopeless = "no difference is found with that power, even if one model alone is right wherever "
                "they disagree; plan more questions"};
const struct evalci_plan evalci_plan_gate = {.names = {"p", "t"},
                                             .kinds = {RATE, WIDTH},
                                             .check = above_threshold,
                                             .compute = questions_of_gate,
                                             .whole = true,
                                             .hopeless = TOO_MANY};
const struct evalci_plan evalci_plan_runs = {
    .names = {"p", "width", "icc", "cost_question", "cost_attempt"},
    .kinds = {RATE, WIDTH, RATE, COST, COST},
    .check = any_rates,
    .compute = cheapest_runs,
    .hopeless = TOO_MANY,
    .members = {"questions", "attempts", "cost"}};

/* 0 questions give NULL (contract 10). */
static bool any_questions(const struct evalci_plan *plan, const double *x) {
  for (int i = 0; plan->names[i]; i++)
    if (plan->kinds[i] == QUESTIONS && x[i] == 0) return false;
  return true;
}

/* Whole numbers are written as such. */
static void result_members(sqlite3_context *context, const struct evalci_plan *plan,
                           const double *out) {
  sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(context));
  for (int i = 0; i < MOST_RESULTS; i++)
    if (out[i] == floor(out[i]) && out[i] <= EV_MOST_QUESTIONS)
      sqlite3_str_appendf(json, "%s\"%s\":%lld", i ? "," : "{", plan->members[i],
                          (sqlite3_int64)out[i]);
    else
      evalci_append_member(json, plan->members[i], out[i]);
  sqlite3_str_appendchar(json, 1, '}');
  evalci_result_json(context, json);
}

static void result_plan(sqlite3_context *context, const double *x, const ev_options *options) {
  const evalci_function *f = sqlite3_user_data(context);
  const struct evalci_plan *plan = f->plan;
  evalci_call call = {f->name, NULL};
  double out[MOST_RESULTS] = {NAN};
  ev_status status = plan->compute(x, options, evalci_host_of(context), out);
  if (status == EV_OK && isinf(out[0])) {
    evalci_fail(&call, "%s", plan->hopeless);
    evalci_report(context, &call);
  } else if (plan->members[0] && status == EV_OK) {
    result_members(context, plan, out);
  } else if (plan->whole && status == EV_OK) {
    sqlite3_result_int64(context, (sqlite3_int64)out[0]);
  } else {
    evalci_result_probability(context, f->name, status, out[0]);
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
const evalci_kind evalci_planned_runs = {
    .arguments = plan_arguments, .json = true, .scalar = planned_call};
