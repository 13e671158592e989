/*
** The list of evalci's functions, for tests that must leave none out.
*/
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

/* Every function of evalci as name, arity, kind.  Debian's SQLite brings full-text
** search and R-trees of its own, which are left out. */
#define EVALCI_FUNCTIONS                                                                           \
  "SELECT name, narg, type FROM pragma_function_list WHERE builtin = 0 "                           \
  "AND name NOT GLOB 'fts*' AND name NOT GLOB 'rtree*' AND name NOT IN ('bm25', 'highlight', "     \
  "'match', 'matchinfo', 'offsets', 'optimize', 'snippet') ORDER BY name, narg"

#endif
