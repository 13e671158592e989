/*
** Private to ext/sqlite: options that are a flat object of JSON.
*/
#ifndef EVALCI_OBJECT_H
#define EVALCI_OBJECT_H

#include "surface.h"

/* A part of the text, from `at` up to `end`.  A string includes its quotes. */
typedef struct evalci_part {
  const char *at, *end;
} evalci_part;

/* Reads one member; false after leaving a message, or without memory. */
typedef bool evalci_member(evalci_call *call, evalci_part name, evalci_part value, void *out);

/* Calls the reader for every member; false after leaving a message, which shows `example` where
** the value is not a flat object. */
bool evalci_read_object(evalci_call *call, sqlite3_value *value, const char *example,
                        evalci_member *member, void *out);

/* The index of a name among the keys; -1 for none. */
int evalci_key_of(evalci_part name, const char *const *keys, int count);
bool evalci_part_is(evalci_part part, const char *text);

/* The text of a string, without its quotes, sqlite3_malloc'ed; NULL without memory. */
char *evalci_part_text(evalci_part string, size_t *size);

/* A part as a message shows it, cut when long. */
evalci_shown evalci_show_part(evalci_part value);

#endif
