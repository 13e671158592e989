/*
** The names of columns of results, of the winners of votes, and limits, for the board
*(board_source.c,
** votes.c) and for imports (ext/import).
*/
#ifndef EVALCI_ROLES_H
#define EVALCI_ROLES_H

#include <stddef.h>

/* Bytes of a name, such as a model's or an item's, and of any value that is read. */
enum { EVALCI_LONGEST_NAME = 1 << 20, EVALCI_LONGEST_VALUE = 64 << 20 };

/* The role of a column, in the order of evalci_role_names. */
typedef enum evalci_role {
  EVALCI_MODEL,
  EVALCI_TASK,
  EVALCI_ITEM,
  EVALCI_ATTEMPT,
  EVALCI_CORRECT,
  EVALCI_SCORE,
  EVALCI_ERROR,
  EVALCI_COST, /* these two where they are asked for */
  EVALCI_LATENCY,
  EVALCI_SCORE_LO,
  EVALCI_SCORE_HI,
  EVALCI_N, /* of counts, which have no item */
  EVALCI_K,
  EVALCI_ROLES
} evalci_role;

enum { EVALCI_MOST_ALIASES = 6 };

extern const char *const evalci_role_names[EVALCI_ROLES];
/* Common names for each role; NULL after the last. */
extern const char *const evalci_role_aliases[EVALCI_ROLES][EVALCI_MOST_ALIASES];
/* Ambiguous names: used only where none of the above is found. */
extern const char *const evalci_role_last[EVALCI_ROLES];

typedef enum evalci_winner {
  EVALCI_NO_WINNER = -1,
  EVALCI_A_WINS,
  EVALCI_B_WINS,
  EVALCI_TIE,
  EVALCI_BOTH_BAD /* a tie too */
} evalci_winner;

/* The winner that a word names, in any case; EVALCI_NO_WINNER if it names none. */
evalci_winner evalci_winner_named(const char *word, size_t length);

#endif
