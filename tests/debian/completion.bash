#!/bin/bash
# Prints what bash would complete: completion.bash FILE BIN_DIRECTORY, where the file is tools/packaging/completions/keysieve.
set -eu
. /usr/share/bash-completion/bash_completion
. "$1"
PATH=$2:$PATH
cases=$("$(dirname "$0")/completion_cases")

# completed LINE: what bash offers at its end, in one line
completed() {
  read -ra COMP_WORDS <<<"$1"
  [[ $1 != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
  _keysieve "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || true
  printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
}

cd "$(mktemp -d)"
trap 'rm -r "$PWD"' EXIT
mkdir -p sets/tags sets/users
touch tags.ks
export KEYSIEVE_DIRECTORY=$PWD/sets

while IFS='|' read -r line offered; do
  [ "$(completed "$line")" = "$offered" ] ||
    { echo "completion.bash: \"$line\" gives \"$(completed "$line")\", not \"$offered\"" >&2; exit 1; }
done <<<"$cases"
