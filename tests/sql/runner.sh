#!/bin/sh
# Tests the test runner: scripts that must pass, and scripts that must fail with a given
# message.  RUNNER may name another runner.
run=${RUNNER:-build/sqllogictest}
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

# expect STATUS TEXT NAME: checks that the script on standard input exits with STATUS and prints TEXT.
expect() {
  cat >"$dir/$3.test"
  out=$($run "$dir/$3.test" 2>&1); rc=$?
  if [ "$rc" = "$1" ] && printf '%s\n' "$out" | grep -qF -- "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: expected status %s and "%s", got status %s and:\n%s\n' "$3" "$1" "$2" "$rc" "$out"
  fi
}

expect 0 '6 passed, 0 failed' renders <<'END'
statement ok
CREATE TABLE t(a, b)

# a comment before a record
statement ok
INSERT INTO t VALUES (1, 'x y'),
# and one inside it
  (NULL, ''), (2.5, char(9, 233, 127))

query IT
SELECT a, b FROM t
----
1
x y
NULL
(empty)
2
@@@@

query R
SELECT 2.0/3
----
0.667

query R
SELECT 9223372036854775807.0
----
9223372036854776000.000

query T
SELECT 1 WHERE 0
END

printf 'statement ok\r\nCREATE TABLE t(a)\r\n\r\nquery I\r\nSELECT 1\r\n----\r\n1\r\n' |
  expect 0 '2 passed, 0 failed' crlf

expect 0 '4 passed, 0 failed' sorts_and_labels <<'END'
query II rowsort same
SELECT 2, 1 UNION ALL SELECT 10, 3 UNION ALL SELECT 1, 9
----
1
9
10
3
2
1

query II rowsort same
SELECT 10, 3 UNION ALL SELECT 1, 9 UNION ALL SELECT 2, 1
----
1
9
10
3
2
1

query II valuesort
SELECT 2, 1 UNION ALL SELECT 10, 3
----
1
10
2
3

query II nosort
SELECT 2, 1
----
2
1
END

expect 1 'differs from an earlier one labelled' label_differs <<'END'
query I nosort one
SELECT 1
----
1

query I nosort one
SELECT 2
----
2
END

expect 1 'differs from an earlier one labelled' label_of_a_skipped_query <<'END'
query I nosort one
SELECT 1
----
1

skipif sqlite
query I nosort one
SELECT 2
----
2
END

# printf '1\n2\n3\n' | md5sum
expect 0 '2 passed, 0 failed' hashes <<'END'
hash-threshold 2

query I rowsort
SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3
----
3 values hashing to c0710d6b4f15dfa88f600b0e6b624077

query I
SELECT 7
----
7
END

expect 1 'wrong hash' wrong_hash <<'END'
hash-threshold 1

query I rowsort
SELECT 1 UNION ALL SELECT 2
----
2 values hashing to c0710d6b4f15dfa88f600b0e6b624077
END

expect 1 'wrong hash' nine_values_are_hashed <<'END'
query I
WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 9) SELECT i FROM r
----
1
2
3
4
5
6
7
8
9
END

# What is skipped is passed over, whatever it is.
expect 0 '1 passed, 0 failed, 3 skipped' skipped_records <<'END'
skipif sqlite
hash-threshold 1

onlyif mysql
load extension
of some kind

skipif sqlite
halt

query I
SELECT 1 UNION ALL SELECT 2
----
1
2
END

expect 0 '2 passed, 0 failed, 1 skipped' conditions_and_halt <<'END'
onlyif postgresql
statement ok
this is not SQL

skipif mysql
onlyif sqlite
query I
SELECT 1
----
1

statement error no such table: absent
SELECT * FROM absent

halt

statement ok
nor is this
END

run="$run --within valgrind"
expect 0 '1 passed, 0 failed, 1 skipped' within <<'END'
skipif valgrind
statement ok
this is not SQL

onlyif valgrind
statement ok
SELECT 1
END
run=${RUNNER:-build/sqllogictest}

expect 1 'wrong_value.test:4: wrong value' wrong_value <<'END'
query I
SELECT 1
----
2
END

expect 1 'expected 2 values, got 1' too_few <<'END'
query I
SELECT 1
----
1
2
END

expect 1 'expected 0 values, got 1' too_many <<'END'
query I
SELECT 1
END

expect 1 'expected 1 columns, got 2' columns <<'END'
query I
SELECT 1, 2
----
1
END

expect 1 'actual:   no such table: absent' wrong_message <<'END'
statement error no such column
SELECT * FROM absent
END

expect 1 'actual:   ok' no_error <<'END'
statement error
SELECT 1
END

expect 1 'statement failed' fails <<'END'
statement ok
SELECT * FROM absent
END

expect 1 'query failed' query_fails_midway <<'END'
query I
SELECT abs(-9223372036854775808)
----
1
END

expect 1 "unknown record 'qeury'" unknown <<'END'
qeury I
SELECT 1
END

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
