/* The names of columns. */
#include <stddef.h>

#include "roles.h"

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
