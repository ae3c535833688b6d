#!/bin/bash
# Asks bash what it would complete, and compares with what --help says: completion.bash FILE BIN_DIRECTORY,
# where the file is tools/completions/keysieve.
set -eu
. /usr/share/bash-completion/bash_completion
. "$1"
PATH=$2:$PATH
fail() { printf 'completion.bash: %s\n' "$*" >&2; exit 1; }

# completed LINE: what would be offered at its end, in one line
completed() {
  read -ra COMP_WORDS <<<"$1"
  [[ $1 != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
  _keysieve "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || true
  printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
}
# expect LINE OFFERED
expect() { [ "$(completed "$1")" = "$2" ] || fail "\"$1\" gives \"$(completed "$1")\", not \"$2\""; }

cd "$(mktemp -d)"
trap 'rm -r "$PWD"' EXIT
mkdir -p sets/tags sets/users
touch tags.ks
export KEYSIEVE_DIRECTORY=$PWD/sets

verbs=$(keysieve --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | sort | paste -sd ' ')
[ "$(wc -w <<<"$verbs")" -ge 15 ] || fail "--help names too few verbs: $verbs"
expect 'keysieve ' "$verbs"
expect 'keysieve bu' build
for verb in $verbs; do
  for option in $(keysieve "$verb" --help | grep -o '^  \(-.,\)\?--[a-z-]*' | grep -o -- '--.*'); do
    [[ " $(completed "keysieve $verb --") " = *" $option "* ]] ||
      fail "keysieve $verb --: does not offer $option"
  done
done
expect 'keysieve build --kind b' 'binary_fuse blocked_bloom bloom'
expect 'keysieve status --directory ' sets
expect 'keysieve query ta' 'tags tags.ks'
expect 'keysieve status u' users
expect 'keysieve publish tags.k' tags.ks
expect 'keysieve plan --keys ' ''
expect 'keysieved --ch' --check-config
expect 'keysieved --log-level w' warning
