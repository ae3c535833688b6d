#!/usr/bin/zsh -f
# Prints what zsh would complete: completion.zsh FOLDER BIN_DIRECTORY, where the folder holds
# tools/packaging/completions/_keysieve.
emulate zsh -o err_exit -o extended_glob
zmodload zsh/zpty
folder=${1:A} bin=${2:A}
export PATH=$bin:$PATH
cases=$(${0:A:h}/completion_cases)
fail() { print -u2 "completion.zsh: $*"; exit 1 }

cd "$(mktemp -d)"
trap "rm -rf $PWD" EXIT
mkdir -p sets/tags sets/users
touch tags.ks

# A shell on its own terminal, whose completion writes down what it offers.
cat >setup <<'SETUP'
export PATH=$1:$PATH KEYSIEVE_DIRECTORY=$PWD/sets
PS1= fpath=($2 $fpath)
autoload -Uz compinit
compinit -u -d dump
compadd() {
  setopt local_options extended_glob
  local -a offered
  if [[ " $* " != *' '-[a-zA-Z]#[OAD]' '* ]]; then # this would only fill an array
    builtin compadd -A offered "$@"
    print -rl -- $offered >>offers
  fi
  builtin compadd "$@"
}
offer() { _main_complete; compstate[insert]= compstate[list]=; : >offered }
zle -C offer complete-word offer
bindkey '^I' offer
: >ready
SETUP
zpty shell zsh -f -i
zpty -w shell ". ./setup ${(q)bin} ${(q)folder}"

await() {
  repeat 600; do
    [[ ! -e $1 ]] || return 0
    sleep 0.1
    zpty -r -t shell >/dev/null || true
  done
  fail "$1 never came: $2"
}
await ready 'the shell'

# completed LINE: what zsh offers at its end, in one line
completed() {
  rm -f offers offered
  zpty -w -n shell $'\x15'"$1"$'\t'
  await offered $1
  [[ ! -e offers ]] || reply=(${(fou)"$(<offers)"})
}

while IFS='|' read -r line offered; do
  completed $line
  [[ "$reply" = $offered ]] || fail "\"$line\" gives \"$reply\", not \"$offered\""
done <<<$cases
