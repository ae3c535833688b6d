# shellcheck shell=bash disable=SC2154
# What tools/bench/php and tools/bench/fpm have in common: the servers, each on a unix socket in $work, and keysieve's
# sets, published into $work/sets. To be sourced; wants $work, $build and $here.
servers=()

start_servers() {
  local count
  redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --daemonize no >"$work/redis.log" &
  servers+=($!)
  for count in "$@"; do
    memcached -u "$(id -un)" -s "$work/memcached.$count.sock" -m 512 -t 1 -o hashpower=20 2>"$work/memcached.log" &
    servers+=($!)
  done
  for count in "$@"; do
    until [ -S "$work/memcached.$count.sock" ] && redis-cli -s "$work/redis.sock" ping >/dev/null 2>&1; do sleep 0.05; done
  done
}

stop_servers() {
  [ ${#servers[@]} -eq 0 ] || kill "${servers[@]}" 2>/dev/null || true
  wait
}

# The set keys-COUNT for each COUNT.
publish_keys() {
  local count
  mkdir "$work/sets"
  for count in "$@"; do
    php -n -r 'require $argv[1]; foreach (keys_by_thousand((int) $argv[2]) as $keys) echo implode("\n", $keys), "\n";' \
      "$here/methods/keys.php" "$count" >"$work/keys.txt"
    "$build/bin/keysieve" build --set "keys-$count" --fpr 0.01 "$work/keys.txt" -o "$work/keys.ks" >/dev/null
    "$build/bin/keysieve" publish --directory "$work/sets" "$work/keys.ks" >/dev/null
  done
  rm "$work/keys.txt" "$work/keys.ks"
}
