/*
** The report in words: what these answers say, and how it was done.
*/
#include <math.h>

#include "report.h"

/* The number of names listed; further names are counted. */
enum { MOST_NAMED = 5 };

static void report_strong(report *r, size_t place) {
  report_add(r, "<strong>");
  report_text(r, r->models[place].name);
  report_add(r, "</strong>");
}

/* "A, B and C" */
typedef struct report_list {
  size_t total, done;
} report_list;

static void report_listed(report *r, report_list *list, size_t place) {
  size_t named = list->total > MOST_NAMED ? MOST_NAMED - 1 : list->total;
  if (list->done >= named) return;
  if (list->done > 0) report_add(r, list->done + 1 == list->total ? " and " : ", ");
  report_strong(r, place);
  if (++list->done < named || named == list->total) return;
  report_add(r, " and ");
  report_count(r, (double)(list->total - named));
  report_add(r, " others");
}

static size_t report_count_of(const report *r, report_stand stand) {
  size_t count = 0;
  for (size_t i = 0; i < r->ranked; i++) count += r->models[i].stand == stand;
  return count;
}

static void report_list_of(report *r, report_stand stand) {
  report_list list = {report_count_of(r, stand), 0};
  for (size_t i = 0; i < r->ranked; i++)
    if (r->models[i].stand == stand) report_listed(r, &list, i);
}

/* "33% and 53% (95% sure)." */
static void report_between(report *r, ev_interval ci) {
  report_percent(r, ci.lo, 0);
  report_add(r, " and ");
  report_percent(r, ci.hi, 0);
  report_add(r, " (");
  report_level(r);
  report_add(r, " sure).");
}

/*
** Missing answers
*/

/* Whether a model could equal or beat the leader if its missing answers were as favourable as
** possible. */
static bool report_could_pass(report *r, size_t place) {
  double lowest, highest, least, most;
  if (r->models[0].s.errored + r->models[place].s.errored == 0) return false;
  return report_ok(r, board_extremes(r->board, r->models[0].model, &lowest, &highest)) &&
         report_ok(r, board_extremes(r->board, r->models[place].model, &least, &most)) &&
         most >= lowest;
}

/* Whether the leader's own missing answers could cost it its lead. */
static bool report_lead_is_open(report *r) {
  if (r->models[0].s.errored == 0 || board_settings_of(r->board)->errors_wrong) return false;
  for (size_t i = 1; i < r->ranked; i++)
    if (report_could_pass(r, i)) return true;
  return false;
}

static void report_open_lead(report *r) {
  const report_model *lead = &r->models[0];
  double lowest, highest;
  if (!report_ok(r, board_extremes(r->board, lead->model, &lowest, &highest))) return;
  report_strong(r, 0);
  report_add(r, " has the highest ");
  report_add(r, report_measure(r));
  report_add(r, ", ");
  report_percent(r, lead->s.accuracy, 0);
  report_add(r, ", but it cannot be called the best: ");
  report_count(r, lead->s.errored);
  report_add(r, " of its ");
  report_things(r, lead->s.errored + lead->s.n, "answer");
  report_add(r, lead->s.errored == 1 ? " is" : " are");
  report_add(r, " missing because the run errored. If they were wrong, it would have ");
  report_percent(r, lowest, 0);
  report_add(r, ".");
}

static void report_bounds(report *r) {
  ev_interval ci = r->models[0].bounded;
  if (isnan(ci.lo)) return;
  report_add(r, " Whatever the missing answers were, its ");
  report_add(r, report_measure(r));
  report_add(r, " is between ");
  report_between(r, ci);
}

/* The models, other than the leader, whose missing answers could put them ahead. */
static void report_could_lead(report *r) {
  report_list list = {0, 0};
  if (board_settings_of(r->board)->errors_wrong) return;
  for (size_t i = 1; i < r->ranked; i++)
    list.total += r->models[i].s.errored > 0 && report_could_pass(r, i);
  if (list.total == 0) return;
  report_add(r, " Answers of ");
  for (size_t i = 1; i < r->ranked; i++)
    if (r->models[i].s.errored > 0 && report_could_pass(r, i)) report_listed(r, &list, i);
  report_add(r, " are missing, and could put ");
  report_add(r, list.total == 1 ? "it" : "each of them");
  report_add(r, " first.");
}

/*
** The first sentences
*/
static void report_lead(report *r) {
  size_t leads = report_count_of(r, REPORT_LEADS);
  report_list_of(r, REPORT_LEADS);
  report_add(r, leads == 1 ? " leads with " : " lead with ");
  report_percent(r, r->models[0].s.accuracy, 0);
  if (leads > 1) report_add(r, " each");
}

/* Which models are not separated from the leader, where others are. */
static void report_within_reach(report *r, size_t open, const char *it) {
  if (open > MOST_NAMED) {
    sqlite3_str_appendf(r->out, "; %d other models are within reach of %s", (int)open, it);
  } else {
    report_add(r, open > 0 ? "; only " : "; no other model is");
    report_list_of(r, REPORT_OPEN);
    if (open > 0) report_add(r, open == 1 ? " is" : " are");
    sqlite3_str_appendf(r->out, " within reach of %s", it);
  }
}

/* Models behind the leader by the test of all pairs, or only by the interval of the two. */
static void report_behind(report *r, size_t behind, size_t likely) {
  report_add(r, " ");
  if (behind > 0) {
    report_things(r, (double)behind, "model");
    report_add(r, behind == 1 ? " is clearly behind" : " are clearly behind");
    report_add(r, likely > 0 ? "; " : ".");
  }
  if (likely == 0) return;
  if (likely > MOST_NAMED)
    sqlite3_str_appendf(r->out, behind > 0 ? "%d more" : "%d models", (int)likely);
  else
    report_list_of(r, REPORT_LIKELY);
  report_add(r, likely == 1 ? " is probably behind" : " are probably behind");
  report_add(r, behind > 0 ? "." : ", but not clearly.");
}

/* How the other models stand relative to the leader. */
static void report_reach(report *r) {
  size_t leads = report_count_of(r, REPORT_LEADS), open = report_count_of(r, REPORT_OPEN);
  size_t behind = report_count_of(r, REPORT_BEHIND), others = r->ranked - leads;
  size_t likely = report_count_of(r, REPORT_LIKELY);
  if (behind > 0 && behind == others) {
    report_add(r, others == 1 ? "; the other model is clearly behind."
                              : "; every other model is clearly behind.");
  } else if (open > 0 && open == others) {
    report_add(r, ", but ");
    if (others == 1) report_list_of(r, REPORT_OPEN);
    report_add(r,
               others == 1 ? " is too close to call." : "every other model is too close to call.");
  } else if (behind + likely > 0) {
    report_within_reach(r, open, leads == 1 ? "it" : "them");
    report_add(r, ".");
    report_behind(r, behind, likely);
  } else if (open > 0) {
    report_add(r, "; too close to call: ");
    report_list_of(r, REPORT_OPEN);
    report_add(r, ".");
  } else {
    report_add(r, ".");
  }
}

/* Models that beat the leader when compared question by question, and models that share no
** question with it. */
static void report_exceptions(report *r) {
  if (report_count_of(r, REPORT_AHEAD) > 0) {
    report_add(r, " But on the questions that both answered, ");
    report_list_of(r, REPORT_AHEAD);
    report_add(r, " did clearly better.");
  }
  if (report_count_of(r, REPORT_UNMET) > 0 && r->tested) {
    report_add(r, " Not compared, because they share no question with the leader: ");
    report_list_of(r, REPORT_UNMET);
    report_add(r, ".");
  }
}

static void report_alone(report *r) {
  const report_model *m = &r->models[0];
  report_strong(r, 0);
  report_add(r, r->graded ? " scored " : " got ");
  report_percent(r, m->s.accuracy, 0);
  report_add(r, r->graded ? " on " : " right on ");
  report_things(r, m->s.questions, "question");
  report_add(r, "; on all questions like these it would get between ");
  report_between(r, m->ci);
}

/* Says which questions each number is about. */
static void report_questions(report *r) {
  double common = board_common_questions(r->board);
  if (r->ranked < 2 || common == r->most_questions) return;
  report_add(r, "<p>The models did not all answer the same questions. A model's ");
  report_add(r, report_measure(r));
  report_add(r, " and its chance of being best are about the questions that it answered");
  if (r->least_questions < r->most_questions) {
    report_add(r, ", ");
    report_count(r, r->least_questions);
    report_add(r, " to ");
    report_count(r, r->most_questions);
    report_add(r, " of them");
  }
  report_add(r, r->tested ? "; two models are compared on those that both answered. "
                          : ". No two models answered the same question, so a difference between "
                            "them may come from the questions as well as from the models. ");
  if (common == 0)
    report_add(r, "No question was answered by all.");
  else
    report_things(r, common, "question");
  if (common > 0) report_add(r, common == 1 ? " was answered by all." : " were answered by all.");
  report_add(r, "</p>\n");
}

void report_summary(report *r) {
  if (r->ranked == 0) return;
  report_add(r, "<p id=\"summary\" class=\"said\">");
  if (r->ranked == 1) {
    report_alone(r);
  } else if (report_lead_is_open(r)) {
    report_open_lead(r);
    report_bounds(r);
  } else {
    report_lead(r);
    if (r->tested)
      report_reach(r);
    else
      report_add(r, ".");
    report_exceptions(r);
    report_could_lead(r);
  }
  report_add(r, "</p>\n");
  report_questions(r);
}

/*
** How it was done
*/
static void report_method_of_models(report *r) {
  report_add(r, "<li>");
  report_add(r, r->graded ? "A score is the average mark, from 0% for the lowest possible mark to "
                            "100% for the highest."
                          : "Accuracy is the share of right answers.");
  if (r->repeated)
    report_add(r, " A question that was asked several times counts as one, by the mean of its "
                  "answers.");
  report_add(r, " A model's <b>");
  report_level(r);
  report_add(r, " interval</b> contains its ");
  report_add(r, report_measure(r));
  report_add(r, " on all questions of this kind with a probability of ");
  report_level(r);
  report_add(r, ". The fewer questions, the wider it is. ");
  report_add(r, "<span class=\"soft\">(");
  if (board_settings_of(r->board)->by_task && r->task_count > 1)
    report_add(r, "<code>macro_ci</code>: every task counts the same");
  else if (r->graded || r->repeated)
    report_add(r, "<code>mean_ci</code> of the questions' means");
  else
    report_add(r, "<code>bayes_ci</code>, uniform prior");
  report_add(r, ")</span></li>\n");
}

static void report_method_of_pairs(report *r) {
  if (!r->tested) return;
  report_add(r,
             "<li><b>Two models</b> are compared question by question, on the questions that both "
             "answered: a question that both get right, or both wrong, does not tell them apart. "
             "<span class=\"soft\">(<code>paired_diff_ci</code>, <code>paired_mean_diff_ci</code>, "
             "<code>paired_p</code>)</span></li>\n"
             "<li><b>Clearly better</b>: luck alone would hardly ever cause such a difference. ");
  if (r->tested > 1) {
    report_add(r, "Among ");
    report_things(r, (double)r->tested, "pair");
    report_add(r,
               " some differences are large by luck, so more pairs require larger differences. ");
  }
  report_add(
      r, "The chance that this page has even one false &ldquo;clearly better&rdquo; is at most ");
  report_share(r, 1 - r->level);
  report_add(r, ". In ");
  report_things(r, (double)r->apart, "pair");
  report_add(r, " one model is clearly better. <span class=\"soft\">(Holm's method)</span></li>\n");
  if (r->tested > 1)
    report_add(r, "<li><b>Probably better</b>: the difference would be clear if these two models "
                  "were the only ones compared, but not among so many pairs.</li>\n");
  report_add(r, "<li>A <b>rank</b> is a range: it begins after the models that are clearly better "
                "and ends before those that are clearly worse.</li>\n");
}

static void report_method_of_tasks(report *r) {
  if (r->task_count > 1)
    report_add(r,
               "<li><b>Mean of the tasks</b>: every task counts the same, however many questions "
               "it has. <b>On other tasks like these</b>: the interval of the mean over other "
               "tasks of this kind; shown for five tasks or more. <span "
               "class=\"soft\">(<code>macro_ci</code>, <code>clustered_mean_ci</code> by "
               "task)</span></li>\n");
  if (r->errored == 0) return;
  report_add(r, "<li><b>Errored</b> answers (");
  report_count(r, r->errored);
  report_add(r, board_settings_of(r->board)->errors_wrong
                    ? ") count as wrong.</li>\n"
                    : ") are left out of every number except the interval that includes them: it "
                      "holds whatever they would have been. <span "
                      "class=\"soft\">(<code>bounded_ci</code>; "
                      "<code>\"errors\":\"wrong\"</code> counts them as wrong)</span></li>\n");
}

void report_method(report *r) {
  report_add(r, "<h2>How it was done</h2>\n<ul>\n");
  report_method_of_models(r);
  report_method_of_pairs(r);
  if (r->ranked > 1)
    report_add(r, "<li><b>Chance of being best</b>: how probable it is, given these answers, that "
                  "no other model here is better on all questions of this kind. It is about all "
                  "models at once, and can differ by some points from a comparison of two.</li>\n");
  report_method_of_tasks(r);
  report_add(r, "</ul>\n");
}
