# Shared by tests/run and tests/clients/run, which source it.
passed=0 failed=0

# Seconds that a suite may take.  The longest takes a few minutes of a processor to itself.
LONGEST=${LONGEST:-1800}

# suite NAME COMMAND...: prints the output of a suite, and adds the counts in its last
# line.
suite() {
  name=$1; shift
  echo "== $name"
  out=$(timeout -k 10 "$LONGEST" "$@" 2>&1); rc=$?
  # 137: it did not heed the signal either.
  if [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
    echo "   $name did not end within $LONGEST seconds"
  fi
  printf '%s\n' "$out" | sed '$d'
  last=$(printf '%s\n' "$out" | tail -n 1)
  counts=$(printf '%s\n' "$last" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*$/\1 \2/p')
  if [ -n "$counts" ]; then
    set -- $counts
    echo "   $last"
  else
    set -- 0 1
    echo "$last"
    echo "   $name ended with status $rc and no counts"
  fi
  # A suite that fails must count a failure, whatever it printed; and so must one that checked nothing.
  [ "$2" != 0 ] || { [ "$rc" = 0 ] && [ "$1" != 0 ]; } || set -- "$1" 1
  passed=$((passed + $1)) failed=$((failed + $2))
}

# beside FUNCTION ARGUMENT...: runs its suites at the same time as those that follow;
# both waits for them, shows what they printed and adds their counts.
beside() {
  aside=$(mktemp -d)
  trap 'rm -rf "$aside"' EXIT
  { "$@"; echo "$passed $failed" >"$aside/counts"; } >"$aside/printed" 2>&1 &
}
both() {
  wait
  cat "$aside/printed"
  # If they were killed, that counts as a failure.
  set -- $(cat "$aside/counts" 2>&- || echo 0 1)
  passed=$((passed + $1)) failed=$((failed + $2))
}

# Prints the sum of the suites as the last line; it fails if a check failed.
total() {
  echo
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
