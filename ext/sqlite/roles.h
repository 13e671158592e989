/*
** What columns of results are called: of the board (board_source.c) and of imports (ext/import).
*/
#ifndef EVALCI_ROLES_H
#define EVALCI_ROLES_H

/* What a column of the source is; in the order of evalci_role_names. */
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
/* Names that tools give them; NULL after the last. */
extern const char *const evalci_role_aliases[EVALCI_ROLES][EVALCI_MOST_ALIASES];
/* Names that may mean something else too: taken where there is none of the above. */
extern const char *const evalci_role_last[EVALCI_ROLES];

#endif
