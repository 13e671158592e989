/*
** Two keys as one: the first one's size, the types of both, and the bytes of both.
*/
#include <string.h>

#include "keys.h"

/* A key's bytes: those of text and blobs, or the number. */
static const void *bytes_of(const evalci_key *key, unsigned *size) {
  *size = sizeof key->integer;
  if (key->type == SQLITE_INTEGER) return &key->integer;
  if (key->type == SQLITE_FLOAT) return &key->real;
  *size = key->size;
  return key->bytes;
}

/* The key that such bytes are of, which stay where they are. */
static evalci_key key_of(int type, const char *bytes, unsigned size) {
  evalci_key key = {.type = type};
  if (type == SQLITE_INTEGER) {
    memcpy(&key.integer, bytes, sizeof key.integer);
  } else if (type == SQLITE_FLOAT) {
    memcpy(&key.real, bytes, sizeof key.real);
  } else {
    key.bytes = bytes;
    key.size = size;
  }
  return key;
}

enum { SIZE_BYTES = sizeof(unsigned), PAIR_BYTES = SIZE_BYTES + 2 };

evalci_entry *evalci_pair_entry(evalci_keys *keys, const evalci_key *first,
                                const evalci_key *second) {
  unsigned first_size, second_size;
  const void *first_bytes = bytes_of(first, &first_size);
  const void *second_bytes = bytes_of(second, &second_size);
  sqlite3_uint64 size = (sqlite3_uint64)first_size + second_size + PAIR_BYTES;
  char small[96], *pair = size <= sizeof small ? small : sqlite3_malloc64(size);
  if (!pair) return NULL;
  memcpy(pair, &first_size, SIZE_BYTES);
  pair[SIZE_BYTES] = (char)first->type;
  pair[SIZE_BYTES + 1] = (char)second->type;
  memcpy(pair + PAIR_BYTES, first_bytes, first_size);
  memcpy(pair + PAIR_BYTES + first_size, second_bytes, second_size);
  evalci_key key = {.type = SQLITE_BLOB, .bytes = pair, .size = (unsigned)size};
  evalci_entry *e = size <= 0x7fffffff ? evalci_entry_of(keys, &key) : NULL;
  if (pair != small) sqlite3_free(pair);
  return e;
}

evalci_key evalci_pair_first(const evalci_entry *e) {
  unsigned size;
  memcpy(&size, e->key.bytes, SIZE_BYTES);
  return key_of(e->key.bytes[SIZE_BYTES], e->key.bytes + PAIR_BYTES, size);
}

evalci_key evalci_pair_second(const evalci_entry *e) {
  unsigned size;
  memcpy(&size, e->key.bytes, SIZE_BYTES);
  return key_of(e->key.bytes[SIZE_BYTES + 1], e->key.bytes + PAIR_BYTES + size,
                e->size - PAIR_BYTES - size);
}

bool evalci_same_key(const evalci_key *x, const evalci_key *y) {
  unsigned x_size, y_size;
  const void *x_bytes = bytes_of(x, &x_size), *y_bytes = bytes_of(y, &y_size);
  return x->type == y->type && x_size == y_size && memcmp(x_bytes, y_bytes, x_size) == 0;
}
