/* The names of columns and of winners. */
#include "roles.h"

#include <stdbool.h>
#include <string.h>

const char *const evalci_role_names[EVALCI_ROLES] = {
    "model", "task",    "item",     "attempt",  "correct", "score", "error",
    "cost",  "latency", "score_lo", "score_hi", "n",       "k"};

const char *const evalci_role_aliases[EVALCI_ROLES][EVALCI_MOST_ALIASES] = {
    [EVALCI_MODEL] = {"model_name", "llm", "provider"},
    [EVALCI_TASK] = {"task_name", "benchmark", "dataset"},
    [EVALCI_ITEM] = {"question_id", "qid", "sample_id", "item_id", "id"},
    [EVALCI_ATTEMPT] = {"epoch", "trial", "attempt_id"},
    [EVALCI_CORRECT] = {"is_correct", "passed", "success"},
    [EVALCI_SCORE] = {"rating", "reward"},
    [EVALCI_ERROR] = {"error_message"},
    [EVALCI_COST] = {"cost_usd", "total_cost"},
    [EVALCI_LATENCY] = {"latency_s", "latency_seconds", "seconds"},
    [EVALCI_SCORE_LO] = {"min_score"},
    [EVALCI_SCORE_HI] = {"max_score"},
    [EVALCI_N] = {"total", "questions"},
    [EVALCI_K] = {"correct", "right", "passed"},
};

const char *const evalci_role_last[EVALCI_ROLES] = {[EVALCI_ITEM] = "question"};

static bool is_word(const char *word, const char *text, size_t length) {
  if (strlen(word) != length) return false;
  for (size_t i = 0; i < length; i++)
    if ((text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]) != word[i])
      return false;
  return true;
}

evalci_winner evalci_winner_named(const char *word, size_t length) {
  static const struct {
    const char *word;
    evalci_winner winner;
  } words[] = {{"model_a", EVALCI_A_WINS},
               {"a", EVALCI_A_WINS},
               {"model_b", EVALCI_B_WINS},
               {"b", EVALCI_B_WINS},
               {"tie", EVALCI_TIE},
               {"both_bad", EVALCI_BOTH_BAD},
               {"tie (bothbad)", EVALCI_BOTH_BAD},
               {"bothbad", EVALCI_BOTH_BAD},
               {"both bad", EVALCI_BOTH_BAD}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is_word(words[i].word, word, length)) return words[i].winner;
  return EVALCI_NO_WINNER;
}
