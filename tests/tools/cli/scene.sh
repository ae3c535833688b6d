# What each scene of a transcript begins with, and may use.
set -o pipefail
shopt -u patsub_replacement 2>/dev/null  # in each(), "&" is "&"
umask 022
export LC_ALL=C.UTF-8 KEYSIEVE_DIRECTORY=shm
unset KEYSIEVE_REDIS_PASSWORD
mkdir shm
exec </dev/null
store=lmdb:store
units=$(dirname "${BASH_SOURCE[0]}")/../../../tools/loader
group=
trap 'kill $(jobs -p) 2>/dev/null; wait; seen_windows shm clicks remove 2>/dev/null; [ -z "$group" ] || { umount -l shm; rmdir "$group"; }' EXIT

# numbered COUNT [PREFIX]: lines "w0", "w1", …
numbered() { seq -f "${2-w}%.0f" 0 $(($1 - 1)); }

# made NAME COUNT|- [OPTION]...: builds NAME.ks, of set $set, from the numbered lines, or from standard input; leaves them in NAME.txt.
set=tags
made() {
  if [ "$2" = - ]; then cat >"$1.txt"; else numbered "$2" >"$1.txt"; fi
  keysieve build --set "$set" -o "$1.ks" "$1.txt" "${@:3}" >/dev/null
}

# quietly COMMAND...: shows only what goes wrong.
quietly() { "$@" >/dev/null; }

# each TEMPLATE VALUE...: shows and runs a command for each value, which replaces "@".
each() {
  local template=$1 value command
  for value in "${@:2}"; do
    command=${template//@/$value}
    echo "- $command"
    eval "$command" 2>&1 || echo "  [$?]"
  done
}

# on_terminal COMMAND [TYPED]: runs it on a terminal, where that is typed, and shows what controls the terminal as "^[[K".
on_terminal() { printf "${2-}" | script -qec "$1" --echo never /dev/null | tr -d '\r' | cat -v; }

# redis [OPTION]...: a server of its own, at redis.sock.
redis() {
  redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' "$@" >/dev/null &
  until redis_says ping >/dev/null 2>&1 || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
}
redis_says() { redis-cli -s redis.sock "$@"; }

# web [DIRECTIVES]: a web server over TLS, whose store at $url is the folder www/tags. no_web: ends it.
web() {
  local port
  [ -e web.crt ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=web -addext subjectAltName=IP:127.0.0.1 -keyout web.key -out web.crt 2>/dev/null
  for port in $(shuf -n 9 -i 20000-32000); do
    printf 'user root; master_process off; daemon off; pid web.pid; events {}\nhttp { access_log off; %s\nserver { listen 127.0.0.1:%s ssl; ssl_certificate web.crt; ssl_certificate_key web.key; root www; %s } }\n' \
      "$(printf '%s_temp_path web; ' client_body proxy fastcgi uwsgi scgi)" $port "${1-}" >web.conf
    /usr/sbin/nginx -p "$PWD" -e web.log -c web.conf 2>/dev/null &
    web=$!
    until [ -s web.pid ] || ! kill -0 $web 2>/dev/null; do sleep 0.01; done
    [ -s web.pid ] && break
  done
  url="https://127.0.0.1:$port/tags?ca_file=$PWD/web.crt"
}
no_web() { kill $web && wait $web; }

# suspect TEXT...: shows what a build says of lists with these texts, in which "\n" ends a line.
suspect() {
  local text
  for text; do
    printf %b "$text" >list
    echo "- $text"
    keysieve build --set tags -o new.ks list 2>&1 >/dev/null | sed 's/^keysieve: /  /' || echo "  [${PIPESTATUS[0]}]"
  done
}

# damage FILE OFFSET: changes one bit.
damage() {
  local byte
  chmod u+w "$1"
  byte=$(od -An -tu1 -j"$2" -N1 "$1")
  printf "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# as_nobody PROGRAM [ARGUMENT]...: as a user without rights, who may enter this folder.
as_nobody() {
  chmod 755 .
  cp "$(command -v "$1")" ./program
  setpriv --reuid 65534 --regid 65534 --clear-groups ./program "${@:2}"
}

# generations COUNT...: pushes generations of so many keys.
generations() {
  [ -e seed.ks ] || made seed 1 2>/dev/null
  for count in "$@"; do
    made "$count" "$count" --like seed.ks --as-of @1700000000 --adds-from 5-6 --allow-shrink
    keysieve push "$count.ks" $store >/dev/null
  done
}

# added: the keys in the adds log in Redis, with a line end after each.
added() {
  redis_says --raw eval 'local keys = {}
    for _, entry in ipairs(redis.call("XRANGE", KEYS[1], "-", "+")) do if entry[2][1] == "key" then table.insert(keys, entry[2][2]) end end
    return keys' 1 keysieve:tags:adds
}

# configured URL [SET]: a configuration of keysieved; loaded URL: one whose set is built, pushed and published.
configured() {
  printf 'directory = "%s/shm"\ncache = "%s/cache"\n[store.main]\nurl = "%s"\n[[set]]\nname = "%s"\nstore = "main"\n' "$PWD" "$PWD" "$1" "${2-tags}" >keysieve.toml
}
loaded() {
  mkdir -m 755 cache
  made tags 100 && quietly keysieve push tags.ks "$1" && configured "$1" && keysieved --once --config keysieve.toml 2>/dev/null
}

# refreshed: keysieved --once, and what it logs, without the times.
refreshed() { keysieved --once --config keysieve.toml 2>&1 | sed 's/^2[^ ]* //'; }

# watching SET...: a configuration with these sets of $url, or of the folder "store", where keysieved looks each $poll.
watching() {
  printf 'directory = "%s/shm"\ncache = "%s/cache"\npoll_interval = "%s"\n' "$PWD" "$PWD" "${poll-20ms}" >keysieve.toml
  printf '[store.main]\nurl = "%s"\n' "${url-dir:$PWD/store}" >>keysieve.toml
  [ $# -eq 0 ] || printf '[[set]]\nname = "%s"\nstore = "main"\n' "$@" >>keysieve.toml
}

# pushed COUNT [SET]: a generation of numbered keys, whatever the guards of a push say.
pushed() {
  set=${2-tags} made pushed "$1" 2>/dev/null
  keysieve push --allow-shrink pushed.ks "${url-dir:$PWD/store}" >/dev/null 2>&1
}

# runs [OPTION]...: keysieved with that configuration, until it ends; its log is in "log". $keysieved: its file.
runs() {
  mkdir -p cache && chmod 755 cache
  "${keysieved-keysieved}" --log-level debug --config keysieve.toml "$@" 2>>log &
  pid=$!
}
ends() { kill -TERM $pid && wait $pid; }

# soon COMMAND: waits until it succeeds.
soon() {
  local end=$((SECONDS + ${patience-120}))
  until eval "$1" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { echo "never: $1" && cat log && return 1; }
    sleep 0.02
  done
}
# says TEXT: waits for a line of the log with it, and shows it without the time. follows GENERATION [SET]: waits until that is live.
# shown SET PATH: what status says of it.
says() { soon 'grep -qF -- "'"$1"'" log' && grep -m 1 -F -- "$1" log | sed 's/^2[^ ]* //'; }
shown() { { keysieve status --json "$1" 2>/dev/null || :; } | jq ".sets[0]$2"; }
follows() { soon "[ \$(shown ${2-tags} .generation) = $1 ]"; }

# group BYTES: a memory control group with this limit and without swap, where "grouped" runs keysieved; shm becomes a tmpfs, which counts.
# limited BYTES: another limit. With v1 it is below the group of this shell, so that its limits stay in force; with v2 too, if that hands
# out the memory controller, and else beside it.
group() {
  local v1 v2
  mounted() { awk -v own="$1" '$3 == (own ? "cgroup" : "cgroup2") && (!own || index("," $4 ",", "," own ",")) { at = $2 } END { print at }' /proc/self/mounts; }
  v1=$(mounted memory)$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
  v2=$(mounted)$(sed -n 's/^0:://p' /proc/self/cgroup)
  if [ ! -e "$v1/memory.limit_in_bytes" ]; then
    grep -w memory "$v2/cgroup.subtree_control" >/dev/null 2>&1 || v2=${v2%/*}
    grep -w memory "$v2/cgroup.subtree_control" >/dev/null 2>&1 || return
    v1=$v2
  fi
  mkdir "$v1/keysieve-test-$$" && group=$v1/keysieve-test-$$ && mount -t tmpfs -o size=512m none shm && limited "$1"
}
limited() {
  local file
  for file in memory.memsw.limit_in_bytes memory.limit_in_bytes memory.memsw.limit_in_bytes memory.max; do
    [ ! -e "$group/$file" ] || echo "$1" >"$group/$file"
  done 2>/dev/null
  [ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
}
grouped() { echo $BASHPID >"$group/cgroup.procs" && exec keysieved "$@"; }

# findings [OPTION]...: what the doctor finds that is not in order, but for not_tmpfs: the scene may be on a disk.
findings() {
  keysieve doctor --json "$@" | jq -r '.findings[] | select(.severity != "ok" and .code != "not_tmpfs") | "\(.severity) \(.subject) \(.code): \(.fact)"'
}
export -f quietly findings

# saved: Redis with the set "tags", and the seen set "clicks" as a loader saves it.
saved() {
  redis
  store=redis+unix:$PWD/redis.sock
  made tags 1 && quietly keysieve push tags.ks $store
  quietly redis_says xadd keysieve:seen.d:clicks:log '*' key entry log 1-0 count 1
}

# opened [OPTION]: the seen set "clicks" in shared memory, as a loader has left it.
opened() {
  seen_windows shm clicks open 100 0.000001 "$@" && seen_windows shm clicks look 0 100
}
