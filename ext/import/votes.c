/*
** An arena's votes, as LMSYS and arena-rank have them: a table with columns model_a, model_b
** and winner.
**
** They go to a table votes, whose key is the file and the place in it: the same file again
** changes nothing.  winner becomes 'model_a', 'model_b', 'tie' or 'both_bad'; 1, 0 and 0.5 are a
** win, a loss and a tie of model_a, and a vote without a winner is skipped.
*/
#include <string.h>

#include "../sqlite/roles.h"
#include "inside.h"

enum { MODEL_A, MODEL_B, WINNER, COLUMNS };
static const char *const names[COLUMNS] = {"model_a", "model_b", "winner"};

static int suits(const import_run *run, int role, const char *name, size_t length) {
  const char *given = run->choices->of_votes[role];
  return import_is_name(name, length, given ? given : names[role]) ? 2 : 0;
}

static bool enough(const import_run *run, const bool *there) {
  (void)run;
  return there[MODEL_A] && there[MODEL_B] && there[WINNER];
}

static bool check(import_run *run, const import_file *file, const bool *there,
                  const char *columns) {
  return enough(run, there) ||
         import_fail(run, file,
                     "votes have columns model_a, model_b and winner; there are: %s; name them by "
                     "--model-a, --model-b and --winner; evalci leaderboard reads answers",
                     columns);
}

static bool is_same(import_value a, import_value b) {
  return a.type == IMPORT_TEXT && b.type == IMPORT_TEXT && a.length == b.length &&
         memcmp(a.text, b.text, a.length) == 0;
}

/* The model that the winner names. */
static const char *winner_by_name(const import_answer *row) {
  if (is_same(row->of[WINNER], row->of[MODEL_A])) return "model_a";
  return is_same(row->of[WINNER], row->of[MODEL_B]) ? "model_b" : NULL;
}

/* Normalises the winner, a word or the score of model_a; "" if the vote has none, NULL if it is
** something else. */
static const char *winner_by_word(import_value winner) {
  static const char *const words[] = {[EVALCI_A_WINS] = "model_a",
                                      [EVALCI_B_WINS] = "model_b",
                                      [EVALCI_TIE] = "tie",
                                      [EVALCI_BOTH_BAD] = "both_bad"};
  evalci_winner named = winner.type == IMPORT_TEXT ? evalci_winner_named(winner.text, winner.length)
                                                   : EVALCI_NO_WINNER;
  if (named != EVALCI_NO_WINNER) return words[named];
  import_value score;
  bool word =
      winner.type == IMPORT_TEXT && winner.length > 0 && strchr(".01", *winner.text) == NULL;
  if (word || !import_read_score(winner, &score)) return NULL;
  if (score.type == IMPORT_NOTHING) return "";
  if (score.real == 0.5) return words[EVALCI_TIE];
  return score.real == 1 ? words[EVALCI_A_WINS] : score.real == 0 ? words[EVALCI_B_WINS] : NULL;
}

static bool is_model(import_value v) {
  return v.type == IMPORT_TEXT && v.length > 0 && v.length <= IMPORT_FIELD;
}

/* What is wrong with a row, and the value at fault as text; NULL if nothing is. */
static const char *fault_of(const import_answer *row, const char *word, const char *name,
                            import_value *shown) {
  for (int i = MODEL_A; i <= MODEL_B; i++) {
    *shown = row->of[i];
    if (!is_model(row->of[i])) return "model_a and model_b must be names";
  }
  if (is_same(row->of[MODEL_A], row->of[MODEL_B])) return "model_a and model_b must differ";
  *shown = row->of[WINNER];
  if (word && name && strcmp(word, name) != 0)
    return "winner must have one meaning, and is also a model's name: write model_a, model_b or "
           "tie";
  return word || name ? NULL : "winner must be model_a, model_b, tie or both_bad, or 1, 0 or 0.5";
}

static bool take(import_run *run, import_file *file, const import_answer *row) {
  const char *word = winner_by_word(row->of[WINNER]), *name = winner_by_name(row);
  const char *winner = word ? word : name;
  import_value shown;
  if (winner && *winner == 0) return true;
  const char *fault = fault_of(row, word, name, &shown);
  if (fault) return import_refuse_value(run, file, row, fault, shown);
  import_value values[] = {{.type = IMPORT_TEXT, .text = file->path, .length = strlen(file->path)},
                           {.type = IMPORT_INTEGER, .integer = row->number},
                           row->of[MODEL_A],
                           row->of[MODEL_B],
                           {.type = IMPORT_TEXT, .text = winner, .length = strlen(winner)}};
  return import_direct_add(run, file, values, 5, row->kept);
}

static const import_shape shape = {.table = "votes",
                                   .count = COLUMNS,
                                   .names = names,
                                   .suits = suits,
                                   .enough = enough,
                                   .check = check,
                                   .take = take};

static bool knows(import_run *run, const import_file *file) {
  return import_knows_table(run, file, &shape);
}

/* Deletes the earlier rows of the file. */
static bool forget(import_run *run, const import_file *file) {
  return import_exec(run, "DELETE FROM main.votes WHERE file = %Q", file->path);
}

static bool read(import_run *run, import_file *file) {
  return import_direct_begin(run, file, "votes",
                             "file TEXT NOT NULL, record INTEGER NOT NULL, model_a TEXT NOT NULL, "
                             "model_b TEXT NOT NULL, winner TEXT NOT NULL, "
                             "PRIMARY KEY (file, record)",
                             "file, record, model_a, model_b, winner") &&
         forget(run, file) && import_read_table(run, file, &shape);
}

const import_format import_votes = {.name = "votes",
                                    .reads = "an arena's votes, in CSV, JSON or a database",
                                    .recognised_by = "columns model_a, model_b and winner",
                                    .becomes = "a table votes, a row per vote",
                                    .knows = knows,
                                    .read = read};
