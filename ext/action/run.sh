# The step of action.yml that computes: the leaderboard and the comparisons into the
# job's summary, the report, and the gate.  Its inputs are in the environment.  It ends
# with an error if the results cannot be read; the result of the gate goes to the output
# status.
set -euo pipefail

# The program that the input names, or pip's in an environment of its own.  One that is merely on
# the PATH may be of any version, or anybody's.
program=$PROGRAM
if [ -z "$program" ]; then
  own=${RUNNER_TEMP:-/tmp}/evalci
  python=$(command -v python3 || command -v python)
  "$python" -m venv "$own"
  for folder in bin Scripts; do [ -d "$own/$folder" ] && commands=$own/$folder; done
  "$commands/python" -m pip install --quiet "sqlite-evalci${VERSION:+==$VERSION}"
  program=$commands/evalci
fi

# In a message to GitHub a line break is %0A.
escaped() {
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '%s' "${text//$'\n'/%0A}"
}

# In HTML, inside which Markdown means nothing.
as_html() {
  sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<<"${1//$'\n'/ }"
}

refuse() {
  echo "::error::$(escaped "evalci: $1")"
  exit 3
}

if [ -z "$CANDIDATE" ] && [ -n "$BASELINE$MIN" ]; then
  refuse "the inputs baseline and min make a gate only with candidate, the new model"
fi
case $UNSURE in
  warn | fail) ;;
  *) refuse "the input unsure must be warn or fail, got '$UNSURE'" ;;
esac

# One file, folder or pattern per line, no name of which is an option; options are words, with
# quotes as in a shell.
shopt -s nullglob
files=()
while IFS= read -r line; do
  line=${line#"${line%%[![:space:]]*}"} line=${line%"${line##*[![:space:]]}"}
  [ -n "$line" ] || continue
  IFS= matched=($line) IFS=$' \t\n'
  [ -e "$line" ] && matched=("$line")
  [ ${#matched[@]} -gt 0 ] || refuse "there is no file '$line'"
  files+=("${matched[@]/#-/./-}")
done <<<"$RESULTS"
[ ${#files[@]} -gt 0 ] || refuse "the input results names no file"
options=()
if [ -n "${OPTIONS//[[:space:]]/}" ]; then
  words=$(xargs printf '%s\n' <<<"$OPTIONS") || refuse "the input options has a quote without its end: $OPTIONS"
  while IFS= read -r word; do options+=("$word"); done <<<"$words"
fi

evalci() {
  "$program" "$1" "${files[@]}" ${options[@]+"${options[@]}"} --quiet "${@:2}"
}

output() {
  printf '%s=%s\n' "$1" "${2//$'\n'/ }" >>"$GITHUB_OUTPUT"
}

# The program's errors become annotations of the step.  Anything else that it prints is shown so
# that no line of it, which may quote the results, is a command to GitHub.
errors=$(mktemp)
finish() {
  local status=$? mark=$RANDOM$RANDOM$RANDOM
  if [ $status != 0 ]; then
    echo "::error::$(escaped "$(cat "$errors")")"
  elif [ -s "$errors" ]; then
    printf '::stop-commands::%s\n%s\n::%s::\n' $mark "$(cat "$errors")" $mark
  fi
  rm -f "$errors"
}
trap finish EXIT

[ "${REPORT%/*}" = "$REPORT" ] || mkdir -p "${REPORT%/*}" 2>"$errors"
evalci report -o "$REPORT" ${TITLE:+--title "$TITLE"} 2>"$errors"
output report "$REPORT"
leaderboard=$(evalci leaderboard --markdown 2>"$errors")
pairs=$(evalci compare --markdown 2>"$errors")

status=0 result='' message=''
if [ -n "$CANDIDATE" ]; then
  message=$(evalci gate --candidate "$CANDIDATE" ${BASELINE:+--baseline "$BASELINE"} ${MIN:+--min "$MIN"} \
    ${MARGIN:+--margin "$MARGIN"} ${SURE:+--sure "$SURE"} 2>"$errors") || status=$?
  [ $status -lt 3 ] || exit $status
  result=${message%%:*}
fi
output result "$result"
output message "$message"

{
  title=${TITLE:-evalci}
  printf '## %s\n\n' "${title//$'\n'/ }"
  case $result in
    pass) printf '<p>✅ %s</p>\n\n' "$(as_html "$message")" ;;
    fail) printf '<p>❌ %s</p>\n\n' "$(as_html "$message")" ;;
    unsure) printf '<p>⚠️ %s</p>\n\n' "$(as_html "$message")" ;;
  esac
  printf '%s\n' "$leaderboard"
  # A table has two lines without rows; a summary may have a megabyte.
  rows=$(($(wc -l <<<"$pairs") - 2))
  [ $rows -lt 1 ] || printf '\n<details><summary>Every two models</summary>\n\n%s\n\n</details>\n' "$(sed -n 1,202p <<<"$pairs")"
  [ $rows -le 200 ] || printf '\n%s more pairs are in the report.\n' $((rows - 200))
} >>"$GITHUB_STEP_SUMMARY"

case $result in
  fail) echo "::error::$(escaped "$message")" ;;
  unsure)
    echo "::warning::$(escaped "$message")"
    [ "$UNSURE" = fail ] || status=0
    ;;
esac
output status $status
