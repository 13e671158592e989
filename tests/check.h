/*
** Counting checks, for the C tests.
*/
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdio.h>

static int passed, failed;

static inline void check(bool ok, const char *what, double got, double wanted) {
  if (ok) {
    passed++;
  } else {
    failed++;
    printf("FAILED %s: got %.17g, wanted %.17g\n", what, got, wanted);
  }
}

/* Prints the closing line; returns the exit status.  A test that checked nothing has failed. */
static inline int check_summary(void) {
  printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}

#endif
