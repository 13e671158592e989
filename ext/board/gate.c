/*
** A gate: the candidate against a baseline, on the questions that both were asked; or
** against a threshold, on all its own.
**
** 1. Each question has a mean per model.  An answer that is not known counts as wrong
**    unless the options say "errors":"skip"; then a question without a known answer does
**    not count, and everything is computed a second time as if the candidate's unknown
**    answers were wrong and the baseline's right.
** 2. Against a model, prob is ev_no_worse_prob of the differences, and the same of the
**    negated differences at -margin says how surely the candidate is worse.
** 3. Against a threshold, prob is P(accuracy > threshold): ev_mean_prob_above of question means,
**    which is ev_prob_above of the questions if each is right or wrong and its attempts agree.
** 4. The gate passes if prob, in both computations of 1, is at least `sure`; fails if `worse` is.
** 5. Otherwise, compute how many more questions would settle it 8 times out of 10.
*/
#include "gate.h"

#include <stdlib.h>

#include "../stats/planning.h"
#include "../stats/proportion.h"
#include "inside.h"

/* The probability with which the recommended number of questions should settle the gate. */
static const double GATE_POWER = 0.8;

/* A difference closer to the margin than this counts as being on it: to settle it would take
** hundreds of thousands of questions. */
static const double ON_THE_MARGIN = 0.0005;

/* A model's answers to a question: the known ones, and the number of unknown ones. */
typedef struct gate_asked {
  double total, n, unknown;
  bool graded;
} gate_asked;

/* The share that stands in for unknown answers, or NAN where they are left out. */
typedef struct gate_taken {
  double share[2];
} gate_taken;

/* Question means, of one model or of two. */
typedef struct gate_sample {
  ev_score *list; /* of two models: differences */
  size_t count, room;
  double cells[4]; /* both right, only the candidate, only the baseline, neither */
  double n;
  board_sum sum[2], squares;
  bool graded, repeated;
} gate_sample;

/* Where the board already counts unknown answers as wrong, they are removed again. */
static gate_asked asked_of(const board *b, size_t model, size_t question, const uint32_t *unknown) {
  board_cell cell = board_answer(b, model, question);
  double e = unknown[question];
  return (gate_asked){cell.total, b->settings.errors_wrong ? cell.n - e : cell.n, e,
                      b->task[board_task_of(b, question)].graded};
}

/* Adds the stand-ins for unknown answers; false if no answer is left. */
static bool settle_unknown(gate_asked *x, double share) {
  if (!isnan(share)) {
    x->total += share * x->unknown;
    x->n += x->unknown;
  }
  return x->n > 0;
}

static bool append_question(gate_sample *s, double score, double times) {
  if (times == 0) return true;
  if (!board_grow(&s->list, &s->room, s->count + 1, sizeof *s->list)) return false;
  s->list[s->count++] = (ev_score){score, times};
  return true;
}

static bool is_verdict(double mean) {
  return mean == 0 || mean == 1;
}

/* Adds one question of two models. */
static bool add_shared(gate_sample *s, const gate_asked *candidate, const gate_asked *baseline) {
  double c = candidate->total / candidate->n, d = baseline->total / baseline->n;
  s->n++;
  s->graded |= candidate->graded;
  s->repeated |= candidate->n > 1 || baseline->n > 1;
  board_add_share(&s->sum[BOARD_CANDIDATE], c);
  board_add_share(&s->sum[BOARD_BASELINE], d);
  board_add_share(&s->squares, (c - d) * (c - d));
  if (!is_verdict(c) || !is_verdict(d)) return append_question(s, c - d, 1);
  s->cells[c == 1 ? d != 1 : 2 + (d != 1)]++;
  return true;
}

/* Adds one question of the candidate. */
static bool add_one(gate_sample *s, const gate_asked *x) {
  double mean = x->total / x->n;
  s->n++;
  s->graded |= x->graded;
  s->repeated |= x->n > 1;
  board_add_share(&s->sum[BOARD_CANDIDATE], mean);
  board_add_share(&s->squares, mean * mean);
  if (!is_verdict(mean)) return append_question(s, mean, 1);
  s->cells[mean == 1 ? 0 : 3]++;
  return true;
}

/* Counts what is not in the sample: errored answers, and questions that only one model was
** asked. */
static bool count_asked(const gate_asked x[2], board_gate *gate) {
  const bool has[2] = {x[0].n + x[0].unknown > 0, x[1].n + x[1].unknown > 0};
  for (int i = 0; i < 2; i++) {
    if (has[0] && has[1]) gate->errored[i] += x[i].unknown;
    gate->alone[i] += has[i] && !has[!i];
  }
  return has[0] && has[1];
}

static ev_status sample_pair(const board *b, const board_gate_request *wish, uint32_t *unknown[2],
                             gate_taken t, gate_sample *s, board_gate *gate) {
  for (size_t q = 0; q < b->questions.count; q++) {
    gate_asked x[2];
    for (int i = 0; i < 2; i++) x[i] = asked_of(b, wish->model[i], q, unknown[i]);
    if (!count_asked(x, gate)) continue;
    bool known = settle_unknown(&x[0], t.share[0]);
    if (!settle_unknown(&x[1], t.share[1]) || !known) continue;
    if (!add_shared(s, &x[BOARD_CANDIDATE], &x[BOARD_BASELINE])) return EV_NO_MEMORY;
  }
  double only_c = s->cells[1], only_b = s->cells[2], alike = s->cells[0] + s->cells[3];
  return append_question(s, 1, only_c) && append_question(s, -1, only_b) &&
                 append_question(s, 0, alike)
             ? EV_OK
             : EV_NO_MEMORY;
}

static ev_status sample_one(const board *b, const board_gate_request *wish, const uint32_t *unknown,
                            double share, gate_sample *s, board_gate *gate) {
  for (size_t q = 0; q < b->questions.count; q++) {
    gate_asked x = asked_of(b, wish->model[BOARD_CANDIDATE], q, unknown);
    gate->errored[BOARD_CANDIDATE] += x.unknown;
    if (settle_unknown(&x, share) && !add_one(s, &x)) return EV_NO_MEMORY;
  }
  return append_question(s, 1, s->cells[0]) && append_question(s, 0, s->cells[3]) ? EV_OK
                                                                                  : EV_NO_MEMORY;
}

static void free_gate_sample(gate_sample *s) {
  free(s->list);
  *s = (gate_sample){0};
}

/* The sample times `sign`; to be freed. */
static ev_score *signed_scores(const gate_sample *s, double sign) {
  ev_score *scores = malloc((s->count + 1) * sizeof *scores);
  for (size_t i = 0; scores && i < s->count; i++)
    scores[i] = (ev_score){sign * s->list[i].score, s->list[i].times};
  return scores;
}

static double gate_mean(const gate_sample *s, int model) {
  return board_sum_of(s->sum[model]) / s->n;
}

/*
** Against a model
*/
static ev_status no_worse(const board *b, const gate_sample *s, double sign, double margin,
                          ev_host host, double *p) {
  ev_options options = b->options;
  ev_score *scores = signed_scores(s, sign);
  if (!scores) return EV_NO_MEMORY;
  options.margin = margin;
  ev_status status = ev_no_worse_prob(scores, s->count, &options, host, p);
  free(scores);
  return status;
}

static ev_status difference_interval(const board *b, const gate_sample *s, ev_host host,
                                     ev_interval *ci) {
  if (s->graded || s->repeated)
    return ev_paired_mean_diff(s->list, s->count, &b->options, host, ci);
  ev_status status = ev_paired_diff(s->cells, &b->options, host, ci);
  if (status == EV_OK) board_hold(ci, (s->cells[1] - s->cells[2]) / s->n);
  return status;
}

/* The smallest n with 1 - exp(n ln_rate) >= sure, ln_rate < 0.  Rounding may move the quotient past
** a whole number. */
static double least_alike(double ln_rate, double sure) {
  double n = ceil(log1p(-sure) / ln_rate) - 1;
  if (!(n < EV_MOST_QUESTIONS)) return HUGE_VAL;
  while (-expm1(n * ln_rate) < sure) n++;
  return n;
}

/* The total number of questions, planned as for right and wrong answers: with rates of
** disagreement that have the same distance from the margin and the same variance. */
static ev_status plan_pair(const board *b, const board_gate_request *wish, const gate_sample *s,
                           double beyond, ev_host host, double *n) {
  double diff = beyond - wish->margin, by = fmin(1, beyond); /* never below -1 + margin */
  double variance = fmax(0, board_sum_of(s->squares) / s->n - diff * diff);
  double discordant = fmin(1, fmax(fabs(by), variance + by * by));
  ev_options options = b->options;
  options.level = 2 * wish->sure - 1;
  return ev_plan_paired((discordant + by) / 2, (discordant - by) / 2, GATE_POWER, &options, host,
                        n);
}

/* How many more questions are needed, at least one. */
static double more_than(double questions, double wanted) {
  return wanted < EV_MOST_QUESTIONS ? fmax(1, wanted - questions) : NAN;
}

/* If nothing differs, `least` is exact; if the candidate is ahead, fewer may do. */
static ev_status ask_more(const board *b, const board_gate_request *wish, const gate_sample *s,
                          ev_host host, board_gate *gate) {
  double diff = gate->accuracy[BOARD_CANDIDATE] - gate->accuracy[BOARD_BASELINE];
  double beyond = diff + wish->margin, n = gate->least;
  if (fabs(beyond) < ON_THE_MARGIN) return EV_OK;
  if (board_sum_of(s->squares) > 0) {
    ev_status status = plan_pair(b, wish, s, beyond, host, &n);
    if (status != EV_OK) return status;
    if (beyond > 0 && diff <= 0) n = fmax(n, gate->least);
  }
  gate->more = more_than(s->n, n);
  return EV_OK;
}

static board_outcome outcome_of(const board_gate *gate, double sure) {
  if (gate->prob >= sure) /* false where prob is NAN */
    return gate->errors == BOARD_ERRORS_WRONG || gate->bound >= sure ? BOARD_PASS : BOARD_UNSURE;
  return gate->worse >= sure ? BOARD_FAIL : BOARD_UNSURE;
}

static ev_status judge_pair(const board *b, const board_gate_request *wish, const gate_sample *s,
                            ev_host host, board_gate *gate) {
  gate->method = s->graded || s->repeated ? "paired means" : "paired";
  gate->least = wish->margin > 0 ? least_alike(log1p(-wish->margin), wish->sure) : HUGE_VAL;
  for (int i = 0; i < 2; i++) gate->accuracy[i] = gate_mean(s, i);
  ev_status status = difference_interval(b, s, host, &gate->ci);
  if (status == EV_OK) status = no_worse(b, s, 1, wish->margin, host, &gate->prob);
  if (status == EV_OK) status = no_worse(b, s, -1, -wish->margin, host, &gate->worse);
  return status;
}

/* The second computation, with errored answers at their worst. */
static ev_status bound_pair(const board *b, const board_gate_request *wish, uint32_t *unknown[2],
                            ev_host host, board_gate *gate) {
  gate_sample s = {0};
  board_gate ignored = {0};
  ev_status status = sample_pair(b, wish, unknown, (gate_taken){{1, 0}}, &s, &ignored);
  if (status == EV_OK && s.n > 0) status = no_worse(b, &s, 1, wish->margin, host, &gate->bound);
  free_gate_sample(&s);
  return status;
}

static ev_status gate_pair(const board *b, const board_gate_request *wish, uint32_t *unknown[2],
                           ev_host host, board_gate *gate) {
  double share = gate->errors == BOARD_ERRORS_WRONG ? 0 : NAN;
  gate_sample s = {0};
  ev_status status = sample_pair(b, wish, unknown, (gate_taken){{share, share}}, &s, gate);
  gate->questions = s.n;
  if (status == EV_OK && s.n > 0) status = judge_pair(b, wish, &s, host, gate);
  if (status == EV_OK && gate->errors == BOARD_ERRORS_SKIPPED)
    status = bound_pair(b, wish, unknown, host, gate);
  gate->result = status == EV_OK ? outcome_of(gate, wish->sure) : BOARD_UNSURE;
  if (status == EV_OK && gate->result == BOARD_UNSURE && gate->prob < wish->sure)
    status = ask_more(b, wish, &s, host, gate);
  free_gate_sample(&s);
  return status;
}

/*
** Against a threshold
*/
/* Whether each question is right or wrong, and all attempts at it agree. */
static bool are_verdicts(const gate_sample *s) {
  return !s->graded && s->cells[0] + s->cells[3] == s->n;
}

static ev_status gate_above(const board *b, const gate_sample *s, double threshold, ev_host host,
                            double *p) {
  ev_options options = b->options;
  options.threshold = threshold;
  if (!are_verdicts(s)) return ev_mean_prob_above(s->list, s->count, &options, host, p);
  return ev_prob_above((double[]){s->cells[0], s->n}, &options, host, p);
}

static const char *threshold_method(const board *b, const gate_sample *s) {
  board_standing standing = {.n = s->n, .graded = s->graded, .repeated = s->repeated};
  return board_method(b, &standing, false);
}

/* The total number of questions; if all answers are equal, their variance cannot be used. */
static double plan_above(const gate_sample *s, double p, const board_gate_request *wish) {
  double mean = gate_mean(s, BOARD_CANDIDATE), within = p * (1 - p);
  double variance = fmax(0, board_sum_of(s->squares) / s->n - mean * mean);
  double v = within > 0 ? fmin(1, variance / within) : 1;
  return ev_plan_threshold(p, wish->threshold, v, wish->sure, GATE_POWER);
}

static ev_status judge_threshold(const board *b, const board_gate_request *wish,
                                 const gate_sample *s, ev_host host, board_gate *gate) {
  double t = wish->threshold;
  gate->method = threshold_method(b, s);
  gate->accuracy[BOARD_BASELINE] = t;
  gate->accuracy[BOARD_CANDIDATE] = gate_mean(s, BOARD_CANDIDATE);
  ev_status status = gate_above(b, s, t, host, &gate->prob);
  if (status == EV_OK) status = ev_mean(s->list, s->count, &b->options, host, &gate->ci);
  /* Only an accuracy below t can fail: after a few answers that are all right, P(accuracy < t)
  ** can be large too when t is high. */
  if (gate->accuracy[BOARD_CANDIDATE] < t) gate->worse = 1 - gate->prob;
  gate->ci.lo -= t;
  gate->ci.hi -= t;
  /* n questions whose answers are all right give 1 - t^(n+1). */
  gate->least = fmax(1, least_alike(log(t), wish->sure) - 1);
  return status;
}

static void ask_more_above(const board_gate_request *wish, const gate_sample *s, board_gate *gate) {
  double p = gate->accuracy[BOARD_CANDIDATE], t = wish->threshold;
  if (fabs(p - t) < ON_THE_MARGIN) return;
  double n = plan_above(s, p, wish);
  if (p > t) n = fmax(n, gate->least);
  gate->more = more_than(s->n, n);
}

static ev_status bound_threshold(const board *b, const board_gate_request *wish,
                                 const uint32_t *unknown, ev_host host, board_gate *gate) {
  gate_sample s = {0};
  board_gate ignored = {0};
  ev_status status = sample_one(b, wish, unknown, 0, &s, &ignored);
  if (status == EV_OK && s.n > 0) status = gate_above(b, &s, wish->threshold, host, &gate->bound);
  free_gate_sample(&s);
  return status;
}

static ev_status gate_threshold(const board *b, const board_gate_request *wish,
                                uint32_t *unknown[2], ev_host host, board_gate *gate) {
  const uint32_t *mine = unknown[BOARD_CANDIDATE];
  gate_sample s = {0};
  ev_status status =
      sample_one(b, wish, mine, gate->errors == BOARD_ERRORS_WRONG ? 0 : NAN, &s, gate);
  gate->questions = s.n;
  if (status == EV_OK && s.n > 0) status = judge_threshold(b, wish, &s, host, gate);
  if (status == EV_OK && gate->errors == BOARD_ERRORS_SKIPPED)
    status = bound_threshold(b, wish, mine, host, gate);
  gate->result = status == EV_OK ? outcome_of(gate, wish->sure) : BOARD_UNSURE;
  if (status == EV_OK && gate->result == BOARD_UNSURE && gate->prob < wish->sure)
    ask_more_above(wish, &s, gate);
  free_gate_sample(&s);
  return status;
}

ev_status board_judge(const board *b, const board_gate_request *wish, ev_host host,
                      board_gate *gate) {
  bool models = isnan(wish->threshold);
  uint32_t *unknown[2] = {NULL, board_unknown_of(b, wish->model[BOARD_CANDIDATE])};
  ev_status status = EV_NO_MEMORY;
  *gate = (board_gate){.errors = b->settings.errors_given && !b->settings.errors_wrong
                                     ? BOARD_ERRORS_SKIPPED
                                     : BOARD_ERRORS_WRONG,
                       .accuracy = {NAN, NAN},
                       .ci = board_no_interval(),
                       .prob = NAN,
                       .worse = NAN,
                       .bound = NAN,
                       .least = NAN,
                       .more = NAN};
  if (models) unknown[BOARD_BASELINE] = board_unknown_of(b, wish->model[BOARD_BASELINE]);
  if (unknown[BOARD_CANDIDATE] && (unknown[BOARD_BASELINE] || !models))
    status = models ? gate_pair(b, wish, unknown, host, gate)
                    : gate_threshold(b, wish, unknown, host, gate);
  free(unknown[0]);
  free(unknown[1]);
  return status;
}
