/*
** Names near one that is not there.
*/
#include <string.h>

#include "board_gate.h"

/* A longer name is near none. */
enum { LONGEST_NAME = 255 };

static int lower(char c) {
  return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

static int least_of(int a, int b, int c) {
  return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

/* The edit distance: letters to change, to add and to drop. */
static int edits_between(const char *a, const char *b) {
  int row[LONGEST_NAME + 1];
  int size = (int)strlen(b);
  for (int j = 0; j <= size; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int before = row[0];
    row[0] = i;
    for (int j = 1; j <= size; j++) {
      int above = row[j];
      row[j] = least_of(above + 1, row[j - 1] + 1, before + (lower(a[i - 1]) != lower(b[j - 1])));
      before = above;
    }
  }
  return row[size];
}

static bool begins_within(const char *name, const char *other) {
  int size = (int)strlen(name);
  for (; *other; other++)
    if (sqlite3_strnicmp(name, other, size) == 0) return true;
  return false;
}

int evalci_name_distance(const char *name, const char *other) {
  if (strlen(name) > LONGEST_NAME || strlen(other) > LONGEST_NAME) return LONGEST_NAME;
  return strlen(name) > 1 && begins_within(name, other) ? 1 : edits_between(name, other);
}

/*
** Models
*/
enum { MOST_NEAR = 3 };

/* The nearest names, the nearest first. */
typedef struct near_names {
  char *name[MOST_NEAR + 1]; /* sqlite3_malloc'ed */
  int distance[MOST_NEAR + 1];
  int count;
} near_names;

/* Takes ownership of the name. */
static void add_near(near_names *n, char *name, int distance) {
  int i = n->count;
  for (; i > 0 && n->distance[i - 1] > distance; i--) {
    n->name[i] = n->name[i - 1];
    n->distance[i] = n->distance[i - 1];
  }
  n->name[i] = name;
  n->distance[i] = distance;
  if (n->count < MOST_NEAR)
    n->count++;
  else
    sqlite3_free(n->name[MOST_NEAR]);
}

/* A name in quotes, a number without: 7 is not '7'.  Takes ownership of the text. */
static char *quoted_name(board_name name, char *text) {
  return name.kind == BOARD_TEXT && text ? sqlite3_mprintf("'%z'", text) : text;
}

/* Of up to six letters two may be wrong, of more a third. */
static bool find_near(const board *b, const char *name, near_names *n) {
  int most = strlen(name) < 6 ? 2 : (int)strlen(name) / 3;
  for (size_t i = 0; i < board_models(b); i++) {
    board_name model = board_model_name(b, board_model_at(b, i));
    if (model.kind == BOARD_NULL) continue;
    char *other = evalci_gate_name(model);
    int distance = other ? evalci_name_distance(name, other) : 0;
    other = quoted_name(model, other);
    if (!other) return false;
    if (distance <= most)
      add_near(n, other, distance);
    else
      sqlite3_free(other);
  }
  return true;
}

bool evalci_fail_model(evalci_call *call, const char *source, const board *b,
                       sqlite3_value *value) {
  char room[8];
  board_name name = {.kind = BOARD_NULL};
  near_names near = {.count = 0};
  char *text = evalci_name_of_value(value, room, &name) ? evalci_gate_name(name) : NULL;
  sqlite3_str *list = sqlite3_str_new(NULL);
  bool found = text && find_near(b, text, &near);
  for (int i = 0; i < near.count; i++) {
    const char *before = i == 0 ? "did you mean " : i == near.count - 1 ? " or " : ", ";
    sqlite3_str_appendf(list, "%s%s%s", before, near.name[i], i == near.count - 1 ? "?" : "");
    sqlite3_free(near.name[i]);
  }
  if (near.count == 0) sqlite3_str_appendall(list, "SELECT model FROM eval_leaderboard lists them");
  char *words = sqlite3_str_finish(list);
  text = quoted_name(name, text);
  if (found && words && text) evalci_fail(call, "%s has no model %s; %s", source, text, words);
  sqlite3_free(text);
  sqlite3_free(words);
  return false;
}
