/*
** Private to ext/sqlite: eval_gate and its words.
*/
#ifndef EVALCI_BOARD_GATE_H
#define EVALCI_BOARD_GATE_H

#include "../board/gate.h"
#include "boards.h"

/* A model's name for people, sqlite3_malloc'ed; NULL without memory. */
char *evalci_gate_name(board_name name);

/* What the gate found, in one sentence, sqlite3_malloc'ed; NULL without memory. */
char *evalci_gate_message(const board *b, const board_gate_request *wish, const board_gate *gate);

#endif
