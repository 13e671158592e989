/*
** Private to ext/sqlite: a hash table of different scores, and how often each came.
**
** Scores come and go in a window, and are counted rather than summed: the same rows give the same
** table in any order, and a frame has the result of its rows.
*/
#ifndef EVALCI_SCORES_H
#define EVALCI_SCORES_H

#include "../stats/mean.h"
#include "surface.h"

/* An empty table is zeroed.  Open addressing, 16 bytes per slot; at least 8/15 of the slots are
** used, so that a score takes at most 30 bytes. */
typedef struct evalci_scores {
  ev_score *slots;         /* a slot whose score is NAN is free */
  unsigned capacity, used; /* number of slots, and of slots that are not free */
  unsigned vacant;         /* used slots whose score has left the frame */
  double total;            /* sum of all counts */
} evalci_scores;

/* Adds a score `times` times, negative for one that leaves; false when memory is short.  The
** score is a number, and the sum of counts is at most 2^53. */
bool evalci_add_score(evalci_scores *scores, double score, double times);

/* The different scores, sqlite3_malloc'ed; NULL when memory is short. */
ev_score *evalci_list_scores(const evalci_scores *scores, size_t *count);

void evalci_free_scores(evalci_scores *scores);

#endif
