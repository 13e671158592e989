/*
** A gate: may a candidate replace a baseline, or is it surely above a threshold?
** Knows nothing of SQL.
*/
#ifndef BOARD_GATE_H
#define BOARD_GATE_H

#include "board.h"

/* The two models of a gate, as places in arrays. */
enum { BOARD_BASELINE, BOARD_CANDIDATE };

typedef struct board_gate_wish {
  size_t model[2];  /* the baseline's number is not read where there is a threshold */
  double threshold; /* that the candidate is to reach; NAN where it is held to a model */
  double margin;    /* how much worse is acceptable, from 0 and below 1 */
  double sure;      /* strictly between 0.5 and 1 */
} board_gate_wish;

typedef enum board_outcome { BOARD_UNSURE, BOARD_PASS, BOARD_FAIL } board_outcome;

/* What becomes of answers that are not known. */
typedef enum board_errors { BOARD_ERRORS_WRONG, BOARD_ERRORS_SKIPPED } board_errors;

/* Numbers are NAN where there are none. */
typedef struct board_gate {
  board_outcome result;
  board_errors errors;
  const char *method; /* NULL without a question */
  bool outside;       /* a score is outside its task's range, and nothing is computed */
  double questions;   /* that count */
  double errored[2];  /* answers that are not known, to questions that were asked of both */
  double alone[2];    /* questions that only this model was asked */
  double accuracy[2]; /* on the questions that count; of a threshold, the first is that */
  ev_interval ci;     /* of the difference */
  double prob, worse; /* how sure that it is acceptable, and that it is not */
  double bound;       /* prob if errored answers were at their worst, where they are skipped */
  double least;       /* questions without which nothing passes even if nothing differs */
  double more;        /* questions that would probably settle it */
} board_gate;

/* The gate of a board that is settled. */
ev_status board_judge(const board *b, const board_gate_wish *wish, ev_host host, board_gate *gate);

#endif
