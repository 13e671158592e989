/*
** A gate: may a candidate replace a baseline, or is it surely above a threshold?
** Knows nothing of SQL.
*/
#ifndef BOARD_GATE_H
#define BOARD_GATE_H

#include "board.h"

/* The two models of a gate, as indices of arrays. */
enum { BOARD_BASELINE, BOARD_CANDIDATE };

typedef struct board_gate_request {
  size_t model[2];  /* the baseline's number is ignored if there is a threshold */
  double threshold; /* the threshold to reach; NAN if the gate compares two models */
  double margin;    /* how much worse is acceptable, from 0 and below 1 */
  double sure;      /* strictly between 0.5 and 1 */
} board_gate_request;

typedef enum board_outcome { BOARD_UNSURE, BOARD_PASS, BOARD_FAIL } board_outcome;

/* How unknown answers are treated. */
typedef enum board_errors { BOARD_ERRORS_WRONG, BOARD_ERRORS_SKIPPED } board_errors;

/* Numbers are NAN where they are not computed. */
typedef struct board_gate {
  board_outcome result;
  board_errors errors;
  const char *method; /* the name of the method; NULL without a question */
  double questions;   /* questions in the sample */
  double errored[2];  /* unknown answers to questions that both were asked */
  double alone[2];    /* questions that only this model was asked */
  double accuracy[2]; /* on the questions in the sample; with a threshold, the first is the
                         threshold */
  ev_interval ci;     /* the interval of the difference */
  double prob, worse; /* the probability that the candidate is acceptable, and that it is not */
  double bound;       /* prob with errored answers at their worst, where they are skipped */
  double least; /* the number of questions below which nothing passes, even if nothing differs */
  double more;  /* the number of questions that would probably settle it */
} board_gate;

/* Computes the gate of a settled board, of which no score is out of range. */
ev_status board_judge(const board *b, const board_gate_request *wish, ev_host host,
                      board_gate *gate);

#endif
