# The sqlite3 shell, as the scripts beside this file and the tests start it: they source
# this and call sqlite.
#
#   -batch -init /dev/null   the settings of ~/.sqliterc do not apply
#   trusted_schema=OFF       views, triggers and indexes of the database may call harmless
#                            functions only: Debian's shell has edit(), which starts a program
#   .timeout 5000            a locked database is waited for, 5 seconds
trust=OFF
sqlite() { sqlite3 -batch -init /dev/null -cmd "PRAGMA trusted_schema=$trust" -cmd '.timeout 5000' "$@"; }

# judge DATABASE: whether sqlite, called for it next, may trust its schema.  Only where it has to:
# SQLite 3.38 to 3.40 (Debian 12) counts its own JSON functions among the harmful ones, and
# would refuse promptfoo's indexes and views of JSON.  There a schema is trusted whose text
# has no name of a harmful function, in any case, as a word of its own.
judge() {
  trust=OFF
  case $(sqlite -version) in 3.38.* | 3.39.* | 3.40.*) ;; *) return ;; esac
  harmful=$(trust=ON && sqlite -readonly "$1" "SELECT count(*) FROM sqlite_schema, (VALUES ('edit'), ('usleep'), ('shell_*'))
    WHERE ' ' || lower(sql) || ' ' GLOB '*[^a-z0-9_]' || column1 || '[^a-z0-9_]*'" 2>/dev/null)
  test "$harmful" != 0 || trust=ON
}
