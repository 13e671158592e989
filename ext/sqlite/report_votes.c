/*
** The report's ratings, where the database has a table of votes: eval_votes, with a picture.
*/
#include "report.h"

enum {
  RV_RANK,
  RV_MODEL,
  RV_RATING,
  RV_LO,
  RV_HI,
  RV_VOTES,
  RV_WINS,
  RV_LOSSES,
  RV_TIES,
  RV_LEAST,
  RV_MOST
};

static const char votes_sql[] =
    "WITH rated AS (SELECT * FROM eval_votes('votes', ?1)), "
    "ends AS (SELECT min(lo) AS least, max(hi) AS most FROM rated) "
    "SELECT iif(rank_lo = rank_hi, rank_lo, rank_lo || '\u2013' || rank_hi), model, rating, lo, "
    "hi, votes, wins, losses, ties, least, most FROM rated, ends";

bool report_has_votes(sqlite3 *db) {
  sqlite3_stmt *rows = NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT v.model_a, v.model_b, v.winner FROM votes AS v", -1,
                              &rows, NULL);
  sqlite3_finalize(rows);
  return rc == SQLITE_OK;
}

static void votes_row(report *r, const report_axis *axis, sqlite3_stmt *rows) {
  double rating = sqlite3_column_double(rows, RV_RATING);
  ev_interval ci = {sqlite3_column_double(rows, RV_LO), sqlite3_column_double(rows, RV_HI)};
  char *name = evalci_label(sqlite3_column_value(rows, RV_MODEL));
  if (!name) {
    report_ok(r, EV_NO_MEMORY);
    return;
  }
  report_add(r, "<tr>");
  report_name_cell(r, "keep", (const char *)sqlite3_column_text(rows, RV_RANK));
  report_name_cell(r, "name keep", name);
  report_plot_cell(r, axis, rating, ci);
  report_open_cell(r, "keep", rating);
  evalci_append_fixed(r->out, rating, 0);
  report_close_cell(r);
  report_open_ci_cell(r, "third", ci);
  evalci_append_fixed(r->out, ci.lo, 0);
  report_add(r, "\u2013");
  evalci_append_fixed(r->out, ci.hi, 0);
  report_close_cell(r);
  for (int i = RV_VOTES; i <= RV_TIES; i++)
    report_count_cell(r, "", sqlite3_column_double(rows, i));
  report_add(r, "</tr>\n");
  sqlite3_free(name);
}

static void votes_heads(report *r, const report_axis *axis) {
  report_head(r, "keep", "rank");
  report_head(r, "name keep", "model");
  report_axis_head(r, "picture", axis);
  report_head(r, "keep", "rating");
  report_level_head(r, "third");
  report_head(r, "", "votes");
  report_head(r, "", "won");
  report_head(r, "", "lost");
  report_head(r, "", "tied");
}

static int votes_table(report *r, sqlite3_stmt *rows) {
  int rc = SQLITE_ROW;
  report_axis axis = report_axis_for(sqlite3_column_double(rows, RV_LEAST),
                                     sqlite3_column_double(rows, RV_MOST), REPORT_RATINGS);
  report_add(r, "<section class=\"chart\"><h2>Ratings from votes</h2>\n");
  report_open_table(r, "votes", "plotted");
  votes_heads(r, &axis);
  report_open_rows(r);
  for (; rc == SQLITE_ROW; rc = sqlite3_step(rows)) votes_row(r, &axis, rows);
  report_close_table(r);
  report_add(r, "<p class=\"soft\">Models were voted on two at a time. 400 points are odds of 10 "
                "to 1, and the mean is 1000. A tie is an outcome of its own, not half a win; the "
                "ranks allow for all pairs at once. <span class=\"soft\">(<code>eval_votes</code>)"
                "</span></p>\n</section>\n");
  return rc;
}

static void votes_section(report *r, sqlite3_stmt *rows) {
  int rc = sqlite3_step(rows);
  if (rc == SQLITE_ROW) rc = votes_table(r, rows);
  if (rc == SQLITE_NOMEM) report_ok(r, EV_NO_MEMORY);
  if (rc == SQLITE_INTERRUPT) report_ok(r, EV_INTERRUPTED);
  if (rc == SQLITE_ERROR) {
    report_add(r, "<h2>Ratings from votes</h2>\n<p>The table votes cannot be rated: ");
    report_text(r, sqlite3_errmsg(r->db));
    report_add(r, ".</p>\n");
  }
}

void report_votes(report *r) {
  sqlite3_stmt *rows = NULL;
  if (r->status != EV_OK || !report_has_votes(r->db)) return;
  // Versions of SQLite print the 17th digit of a double differently.
  char level[EVALCI_NUMBER_SIZE];
  int size = evalci_write_number(r->level, level);
  char *options = sqlite3_mprintf("{\"level\":%.*s}", size, level);
  int rc = options ? sqlite3_prepare_v2(r->db, votes_sql, -1, &rows, NULL) : SQLITE_NOMEM;
  if (rc == SQLITE_OK) rc = sqlite3_bind_text(rows, 1, options, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK) votes_section(r, rows);
  if (rc == SQLITE_NOMEM) report_ok(r, EV_NO_MEMORY);
  sqlite3_finalize(rows);
  sqlite3_free(options);
}
