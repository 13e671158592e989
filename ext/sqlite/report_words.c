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

/* 80%, and from 99% on with a digit more: 99.7%, >99.9%. */
static void report_best_chance(report *r, double p) {
  report_add(r, " (");
  if (p >= 0.9995)
    report_add(r, "&gt;99.9%");
  else
    report_percent(r, p, p >= 0.99);
  report_add(r, ")");
}

/* "A is the best (99.7%)", or the smallest set of models that has the best one with the page's
** level: "The best is A (80%) or B (20%)". */
static void report_best(report *r) {
  size_t count = r->favourites, named = count > MOST_NAMED ? MOST_NAMED - 1 : count;
  double others = 0;
  if (count == 1) {
    report_strong(r, r->favoured[0]);
    report_add(r, " is the best");
    report_best_chance(r, r->models[r->favoured[0]].place.best);
    report_add(r, ".");
    return;
  }
  report_add(r, "The best is ");
  for (size_t i = 0; i < count; i++) {
    const report_model *m = &r->models[r->favoured[i]];
    if (i >= named) {
      others += m->place.best;
      continue;
    }
    if (i > 0) report_add(r, i + 1 == count ? " or " : ", ");
    report_strong(r, r->favoured[i]);
    report_best_chance(r, m->place.best);
  }
  if (named < count) {
    report_add(r, " or one of ");
    report_count(r, (double)(count - named));
    report_add(r, " others");
    report_best_chance(r, others);
  }
  report_add(r, ".");
}

/* Why there are neither ranks nor chances. */
static void report_no_best(report *r) {
  char *note = evalci_rank_note(r->board, r->joint);
  if (!report_ok(r, note ? EV_OK : EV_NO_MEMORY)) return;
  report_add(r, "There are no ranks, and it cannot be said which model is the best: ");
  report_text(r, note);
  report_add(r, ".");
  sqlite3_free(note);
}

/* Who has the highest accuracy. */
static void report_lead(report *r) {
  report_list list = {0, 0};
  double most = r->models[0].s.accuracy;
  for (size_t i = 0; i < r->ranked; i++) list.total += r->models[i].s.accuracy == most;
  report_add(r, " ");
  for (size_t i = 0; i < list.total; i++) report_listed(r, &list, i);
  report_add(r, list.total == 1 ? " has the highest " : " have the highest ");
  report_add(r, report_measure(r));
  report_add(r, ", ");
  report_percent(r, most, 0);
  report_add(r, list.total == 1 ? "." : " each.");
}

/* The models that are hardly the best, if there are others. */
static void report_behind(report *r) {
  size_t behind = report_count_of(r, REPORT_BEHIND), likely = report_count_of(r, REPORT_LIKELY);
  if (likely > 0) {
    report_add(r, " Probably not the best: ");
    report_list_of(r, REPORT_LIKELY);
    report_add(r, ".");
  }
  if (behind > 0) {
    report_add(r, " Clearly behind another model: ");
    report_list_of(r, REPORT_BEHIND);
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
  report_add(r, " is about the questions that it answered");
  if (r->least_questions < r->most_questions) {
    report_add(r, ", ");
    report_count(r, r->least_questions);
    report_add(r, " to ");
    report_count(r, r->most_questions);
    report_add(r, " of them");
  }
  if (r->tested)
    report_add(r, "; differences of two models are about those that both answered. ");
  else
    report_add(r, ". No two models answered the same question, so a difference between them may "
                  "come from the questions as well as from the models. ");
  if (r->placed)
    report_add(r, r->tested ? "Ranks and chances allow for which questions these were. "
                            : "Ranks and chances take the questions to be alike. ");
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
    if (r->placed)
      report_best(r);
    else
      report_no_best(r);
    report_lead(r);
    report_behind(r);
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
  if (r->tested)
    report_add(
        r, "<li><b>The difference of two models</b> and its interval are about the questions that "
           "both answered, question by question: a question that both get right, or both wrong, "
           "does not tell them apart. <span class=\"soft\">(<code>paired_diff_ci</code>, "
           "<code>paired_mean_diff_ci</code>)</span></li>\n");
  if (r->ranked < 2 || (!r->placed && !r->tested)) return;
  report_add(r, "<li><b>Clearly better</b>: luck alone would hardly ever cause such a difference");
  report_add(r, r->ranked > 2
                    ? "; of many pairs, some differ by much by luck, so more pairs require "
                      "larger differences. "
                    : ". ");
  report_add(r, "In ");
  report_things(r, (double)r->apart, "pair");
  report_add(r, " one model is clearly better. <span class=\"soft\">(Holm's method");
  report_add(r, r->placed ? ")</span>" : ", <code>paired_p</code>)</span>");
  if (r->ranked > 2)
    report_add(r, " <b>Probably better</b>: it would be clear if these two models were the only "
                  "ones compared.");
  report_add(r, "</li>\n");
  if (!r->placed) return;
  report_add(r, "<li>A <b>rank</b> is a range: it begins after the models that are clearly better "
                "and ends before those that are clearly worse.</li>\n"
                "<li><b>Chance of being best</b>: how probable it is, given these answers, that no "
                "other model here is better on all questions of this kind. This, ranks and the "
                "probabilities of pairs come from one posterior of all models");
  if (r->ranked > 2)
    report_add(r, ". It takes models to differ as these do, which draws close ones together: a "
                  "probability can be nearer to 50% than that of the two models by themselves, and "
                  "can be so where their interval excludes 0");
  report_add(r, ".</li>\n");
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
  report_method_of_tasks(r);
  report_add(r, "</ul>\n");
}
