/*
** What eval_gate says to people: the result, the numbers it rests on, and what would help.
*/
#include <math.h>
#include <string.h>

#include "board_gate.h"

/* The subject of a message. */
typedef struct gate_sentence {
  sqlite3_str *out;
  const char *name[2];
  const board_gate_request *wish;
  const board_gate *gate;
  double level;
  bool models; /* compared with a model; else with a threshold */
} gate_sentence;

/* Copies a name on one line, with control characters shown as ?. */
char *evalci_gate_name(board_name name) {
  sqlite3_int64 i;
  double x;
  char *text = NULL;
  switch (name.kind) {
  case BOARD_INTEGER:
    memcpy(&i, name.bytes, sizeof i);
    return sqlite3_mprintf("%lld", i);
  case BOARD_REAL:
    memcpy(&x, name.bytes, sizeof x);
    return sqlite3_mprintf("%.15g", x);
  case BOARD_TEXT:
    text = sqlite3_mprintf("%.*s", (int)name.size, (const char *)name.bytes);
    for (char *c = text; c && *c; c++)
      if ((unsigned char)*c < ' ') *c = '?';
    return text;
  default:
    return sqlite3_mprintf("a blob of %d bytes", (int)name.size);
  }
}

typedef struct gate_text {
  char text[32];
} gate_text;

/* Writes a probability in per cent; what would round to 0 or 100 is written as below 1 or above
** 99. */
static gate_text probability_text(double p) {
  gate_text w;
  if (isnan(p))
    strcpy(w.text, "not");
  else if (p > 0.9995)
    strcpy(w.text, ">99.9%");
  else if (p < 0.0005)
    strcpy(w.text, "<0.1%");
  else
    sqlite3_snprintf(sizeof w.text, w.text, "%.1f%%", 100 * p);
  return w;
}

/* A share in hundredths, with one decimal unless it has more. */
static gate_text hundredths(double share) {
  gate_text w;
  bool one = fabs(1000 * share - nearbyint(1000 * share)) < 1e-9;
  sqlite3_snprintf(sizeof w.text, w.text, one ? "%.1f" : "%.6g", 100 * share);
  return w;
}

/* Writes a number and the noun that it counts. */
static void append_count(gate_sentence *t, double n, const char *what) {
  sqlite3_str_appendf(t->out, "%.0f %s%s", n, what, n == 1 ? "" : "s");
}

/* Writes the criterion, after a verb: "is no", "is" or "may be". */
static void append_worse(gate_sentence *t) {
  if (!t->models)
    sqlite3_str_appendf(t->out, " below %s%%", hundredths(t->wish->threshold).text);
  else if (t->wish->margin > 0)
    sqlite3_str_appendf(t->out, " more than %s points worse than %s",
                        hundredths(t->wish->margin).text, t->name[BOARD_BASELINE]);
  else
    sqlite3_str_appendf(t->out, " worse than %s", t->name[BOARD_BASELINE]);
}

static void append_result(gate_sentence *t) {
  const board_gate *g = t->gate;
  bool good = g->prob >= t->wish->sure, bad = g->result == BOARD_FAIL;
  sqlite3_str_appendf(t->out, "%s: %s %s",
                      g->result == BOARD_PASS ? "pass"
                      : bad                   ? "fail"
                                              : "unsure",
                      t->name[BOARD_CANDIDATE],
                      good  ? t->models ? "is no" : "is not"
                      : bad ? "is"
                            : "may be");
  append_worse(t);
  sqlite3_str_appendf(t->out, ", %s sure%s", probability_text(bad ? g->worse : g->prob).text,
                      good || bad ? "" : " that it is not");
}

/* Says why a pass on the known answers is not a pass. */
static void append_bound(gate_sentence *t) {
  const board_gate *g = t->gate;
  sqlite3_str_appendf(t->out, " by the answers that are known, but %s sure if the ",
                      probability_text(g->bound).text);
  append_count(t, g->errored[BOARD_CANDIDATE], "errored answer");
  sqlite3_str_appendf(t->out, " of %s were wrong", t->name[BOARD_CANDIDATE]);
  if (g->errored[BOARD_BASELINE] > 0) {
    sqlite3_str_appendall(t->out, " and the ");
    append_count(t, g->errored[BOARD_BASELINE], "errored answer");
    sqlite3_str_appendf(t->out, " of %s right", t->name[BOARD_BASELINE]);
  }
  sqlite3_str_appendall(t->out, "; ask those questions again");
}

static void append_numbers(gate_sentence *t) {
  const board_gate *g = t->gate;
  const double *accuracy = g->accuracy;
  double base = t->models ? 0 : t->wish->threshold;
  double point = accuracy[BOARD_CANDIDATE] - (t->models ? accuracy[BOARD_BASELINE] : 0);
  sqlite3_str_appendf(t->out,
                      t->models ? "; %+.1f points, %.15g%% interval %+.1f to %+.1f, on "
                                : "; %.1f%%, %.15g%% interval %.1f%% to %.1f%%, on ",
                      100 * point, 100 * t->level, 100 * (g->ci.lo + base),
                      100 * (g->ci.hi + base));
  append_count(t, g->questions, "question");
}

/* Whether more questions are needed before any result could pass.  It does not matter for a
** candidate that is ahead of the baseline, beyond the margin, or below the threshold. */
static bool needs_least(const gate_sentence *t) {
  const board_gate *g = t->gate;
  double diff = g->accuracy[BOARD_CANDIDATE] - g->accuracy[BOARD_BASELINE];
  bool near = t->models ? diff <= 0 && diff + t->wish->margin > 0 : diff > 0;
  return near && g->questions < g->least && g->least < HUGE_VAL;
}

static void append_more(gate_sentence *t) {
  const board_gate *g = t->gate;
  if (needs_least(t)) {
    if (t->models)
      sqlite3_str_appendf(t->out, "; a margin of %s points", hundredths(t->wish->margin).text);
    else
      sqlite3_str_appendf(t->out, "; %s%%", hundredths(t->wish->threshold).text);
    sqlite3_str_appendf(t->out, " needs %.0f questions even if %s", g->least,
                        t->models ? "nothing differs" : "all answers are right");
  }
  if (!isnan(g->more))
    sqlite3_str_appendf(t->out, "; about %.0f more would probably decide", g->more);
  else
    sqlite3_str_appendf(t->out, "; the %s on the %s: more questions are unlikely to decide",
                        t->models ? "difference sits" : "accuracy sits",
                        t->models ? "margin" : "threshold");
}

/* Writes a number for each of the two models, if either is positive. */
static void append_each(gate_sentence *t, const double n[2], const char *what, const char *of,
                        const char *then) {
  bool first = true;
  for (int i = BOARD_CANDIDATE; i >= BOARD_BASELINE; i--) {
    if (n[i] == 0) continue;
    sqlite3_str_appendall(t->out, first ? "; " : " and ");
    append_count(t, n[i], what);
    sqlite3_str_appendf(t->out, " %s %s", of, t->name[i]);
    first = false;
  }
  if (!first) sqlite3_str_appendall(t->out, then);
}

/* Says why nothing can be judged. */
static void append_obstacle(gate_sentence *t) {
  bool skipped = t->gate->errors == BOARD_ERRORS_SKIPPED;
  sqlite3_str_appendf(t->out, "unsure: %s cannot be compared with ", t->name[BOARD_CANDIDATE]);
  if (t->models)
    sqlite3_str_appendf(t->out, "%s: ", t->name[BOARD_BASELINE]);
  else
    sqlite3_str_appendf(t->out, "%s%%: ", hundredths(t->wish->threshold).text);
  sqlite3_str_appendf(t->out, "no question was %s%s", skipped ? "answered" : "asked",
                      !t->models ? ""
                      : skipped  ? " by both"
                                 : " of both");
}

static void append_judgement(gate_sentence *t, bool undone) {
  append_result(t);
  if (undone) append_bound(t);
  append_numbers(t);
  if (t->gate->result == BOARD_UNSURE && !undone) append_more(t);
}

static void append_message(gate_sentence *t) {
  const board_gate *g = t->gate;
  bool undone = g->result == BOARD_UNSURE && g->prob >= t->wish->sure;
  if (g->questions == 0)
    append_obstacle(t);
  else
    append_judgement(t, undone);
  if (!undone)
    append_each(t, g->errored, "errored answer", "of",
                g->errors == BOARD_ERRORS_SKIPPED ? " left out" : " counted as wrong");
  append_each(t, g->alone, "question", "asked of only", ", not counted");
}

char *evalci_gate_message(const board *b, const board_gate_request *wish, const board_gate *gate) {
  bool models = isnan(wish->threshold);
  char *candidate = evalci_gate_name(board_model_name(b, wish->model[BOARD_CANDIDATE]));
  char *baseline = models ? evalci_gate_name(board_model_name(b, wish->model[BOARD_BASELINE]))
                          : sqlite3_mprintf("");
  char *text = NULL;
  if (candidate && baseline) {
    gate_sentence t = {sqlite3_str_new(NULL),
                       {baseline, candidate},
                       wish,
                       gate,
                       board_settings_of(b)->level,
                       models};
    append_message(&t);
    text = sqlite3_str_finish(t.out);
  }
  sqlite3_free(candidate);
  sqlite3_free(baseline);
  return text;
}
