/*
** Signals, while a file is being made or a database is being written.
**
** An unfinished file is removed, and the signal ends the program.  A database being written is
** rolled back: SQLite is interrupted, the transaction is undone, and cli_end_guard() ends the
** program by that signal; a second signal does not wait for that.  A signal handler takes no
** argument, hence the variables.
*/
#include <signal.h>
#include <string.h>

#include "cli.h"

static const int signals[] = {SIGINT, SIGTERM,
#ifdef SIGHUP
                              SIGHUP
#endif
};
enum { SIGNALS = sizeof signals / sizeof *signals };

static volatile sig_atomic_t caught;
static const char *volatile guarded; /* a file to remove */
static sqlite3 *volatile connection;

static void end_by(int which) {
  signal(which, SIG_DFL);
  raise(which);
}

static void on_signal(int which) {
  if (guarded) cli_remove(guarded);
  if (guarded || caught) end_by(which);
  caught = which;
  if (connection) sqlite3_interrupt(connection);
}

/* A read that waits is interrupted too, which signal() would leave to the system.  Signals that
** are ignored, as under nohup, stay ignored. */
static void listen_to(int which) {
#ifdef _WIN32
  signal(which, on_signal);
#else
  struct sigaction old, action = {.sa_handler = on_signal};
  if (sigaction(which, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
    sigaction(which, &action, NULL);
#endif
}

void cli_begin_guard(const char *made, sqlite3 *db) {
  guarded = made;
  connection = db;
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit is then an error, like a full disk */
#endif
  for (int i = 0; i < SIGNALS; i++) listen_to(signals[i]);
}

/* Signals between the making of the file and its guard are held back until it is guarded. */
char *cli_guard_beside(const char *target, int *error) {
#ifndef _WIN32
  sigset_t held, before;
  sigemptyset(&held);
  for (int i = 0; i < SIGNALS; i++) sigaddset(&held, signals[i]);
  sigprocmask(SIG_BLOCK, &held, &before);
#endif
  char *part = cli_beside(target, error);
  if (part) cli_begin_guard(part, NULL);
#ifndef _WIN32
  sigprocmask(SIG_SETMASK, &before, NULL);
#endif
  return part;
}

bool cli_interrupted(void) {
  return caught;
}

void cli_end_guard(void) {
  guarded = NULL;
  connection = NULL;
  if (caught) end_by(caught);
  for (int i = 0; i < SIGNALS; i++)
#ifdef _WIN32
    signal(signals[i], SIG_DFL);
#else
  {
    struct sigaction old;
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == on_signal)
      signal(signals[i], SIG_DFL);
  }
#endif
}
