/*
** Private to ext/sqlite: votes between two models at a time, for the functions bt_ratings and
** bt_pairs (votes.c) and the table eval_votes (board_votes.c).
*/
#ifndef EVALCI_VOTES_H
#define EVALCI_VOTES_H

#include "../stats/votes.h"
#include "keys.h"

/* The columns of a vote, and the counts of a pair of models. */
enum { EVALCI_VOTE_A, EVALCI_VOTE_B, EVALCI_VOTE_WINNER, EVALCI_VOTE_COLUMNS };
enum { EVALCI_VOTE_WINS, EVALCI_VOTE_LOSSES, EVALCI_VOTE_TIES, EVALCI_VOTE_COUNTS };

/* The options; those after the anchor are the table's alone. */
typedef struct evalci_voting {
  bool position;
  double scale, base;
  char *anchor;          /* the bytes of a name; owned */
  evalci_key anchor_key; /* its type is SQLITE_NULL where there is no anchor; 0 before reading */
  double level;
  char *columns[EVALCI_VOTE_COLUMNS]; /* as given, owned; NULL where not */
} evalci_voting;

/* Reads the options of a function, or of the table; `value` is NULL where none are given.  False
** after leaving a message.  The caller frees what was read in either case. */
bool evalci_read_voting(evalci_call *call, sqlite3_value *value, bool table, evalci_voting *out);
void evalci_free_voting(evalci_voting *voting);

/* Adds a row `times` times; the pairs are keys of two models with EVALCI_VOTE_COUNTS counts. */
bool evalci_add_vote(evalci_call *call, evalci_keys *pairs, sqlite3_value **vote, int times);

/* A model with its ratings, on the scale of the options. */
typedef struct evalci_rated {
  const evalci_entry *model;
  double wins, losses, ties;
  ev_rating r;
} evalci_rated;

typedef struct evalci_ratings {
  evalci_keys models;
  evalci_rated *rated; /* the best first */
  size_t count;
  ev_contrast first_place; /* as chances; NAN unless the options ask for it */
} evalci_ratings;

/* To be freed in any case.  A status is an error; so is EV_OK with a message in the call. */
ev_status evalci_rate_votes(evalci_call *call, const evalci_keys *pairs,
                            const evalci_voting *voting, const ev_options *options, ev_host host,
                            evalci_ratings *out);
void evalci_free_ratings(evalci_ratings *ratings);

#endif
