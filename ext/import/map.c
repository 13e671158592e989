/*
** A hash table of entries of one size by name: open addressing over an array.
**
** Names are hashed by FNV-1a from a random start, so that nobody can choose names that collide.
*/
#include <string.h>

#include "inside.h"

typedef struct slot {
  uint64_t hash;
  char *name; /* ends with a zero beyond its length */
  size_t length;
  void *entry;
} slot;

struct import_map {
  uint64_t seed;
  size_t entry_size, count, room;
  slot *slots;   /* in the order in which they came */
  size_t *table; /* of 2 * room places: the number of a slot, plus one */
};

import_map *import_map_new(size_t entry_size) {
  import_map *map = sqlite3_malloc64(sizeof *map);
  if (!map) return NULL;
  *map = (import_map){.entry_size = entry_size};
  sqlite3_randomness(sizeof map->seed, &map->seed);
  return map;
}

static uint64_t hash_of(uint64_t hash, const unsigned char *name, size_t length) {
  for (size_t i = 0; i < length; i++) hash = (hash ^ name[i]) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

/* The slot of a name, or the free slot where it belongs. */
static size_t *place_of(const import_map *map, uint64_t hash, const void *name, size_t length) {
  size_t mask = 2 * map->room - 1, at = (size_t)hash & mask;
  for (; map->table[at]; at = (at + 1) & mask) {
    const slot *s = &map->slots[map->table[at] - 1];
    if (s->hash == hash && s->length == length && memcmp(s->name, name, length) == 0) break;
  }
  return &map->table[at];
}

static bool grow(import_map *map) {
  size_t room = map->room ? 2 * map->room : 16;
  slot *slots = sqlite3_realloc64(map->slots, room * sizeof *slots);
  size_t *table = slots ? sqlite3_malloc64(2 * room * sizeof *table) : NULL;
  if (slots) map->slots = slots;
  if (!table) return false;
  sqlite3_free(map->table);
  memset(table, 0, 2 * room * sizeof *table);
  map->table = table;
  map->room = room;
  for (size_t i = 0; i < map->count; i++)
    *place_of(map, slots[i].hash, slots[i].name, slots[i].length) = i + 1;
  return true;
}

void *import_map_at(import_map *map, const void *name, size_t length, bool make) {
  uint64_t hash = hash_of(map->seed, name, length);
  if (map->count == map->room && (!make || !grow(map)) && map->room == 0) return NULL;
  size_t *place = place_of(map, hash, name, length);
  if (*place) return map->slots[*place - 1].entry;
  if (!make || map->count == map->room) return NULL;
  slot s = {.hash = hash,
            .name = sqlite3_malloc64(length + 1),
            .length = length,
            .entry = sqlite3_malloc64(map->entry_size)};
  if (!s.name || !s.entry) {
    sqlite3_free(s.name);
    sqlite3_free(s.entry);
    return NULL;
  }
  memcpy(s.name, name, length);
  s.name[length] = 0;
  memset(s.entry, 0, map->entry_size);
  map->slots[map->count++] = s;
  *place = map->count;
  return s.entry;
}

size_t import_map_count(const import_map *map) {
  return map->count;
}

void *import_map_entry(const import_map *map, size_t i) {
  return map->slots[i].entry;
}

const char *import_map_name(const import_map *map, size_t i, size_t *length) {
  if (length) *length = map->slots[i].length;
  return map->slots[i].name;
}

void import_map_free(import_map *map) {
  if (!map) return;
  for (size_t i = 0; i < map->count; i++) {
    sqlite3_free(map->slots[i].name);
    sqlite3_free(map->slots[i].entry);
  }
  sqlite3_free(map->slots);
  sqlite3_free(map->table);
  sqlite3_free(map);
}
