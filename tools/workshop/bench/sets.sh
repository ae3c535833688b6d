# shellcheck shell=bash disable=SC2154
# Sets in shared memory, for tools/workshop/bench/run and tools/workshop/bench/instructions. To be sourced; wants $work, $build and $here.

# publish SET [OPTION OF BUILD]...: publishes the keys on standard input into $work/sets.
publish() {
  mkdir -p "$work/sets"
  "$build/bin/keysieve" build --set "$1" --fpr 0.01 "${@:2}" - -o "$work/set.ks" >/dev/null
  "$build/bin/keysieve" publish --directory "$work/sets" "$work/set.ks" >/dev/null
}

# Publishes the set keys-COUNT with the keys of keys.php.
publish_keys() {
  php -n -r 'require $argv[1]; foreach (keys_by_thousand((int) $argv[2]) as $keys) echo implode("\n", $keys), "\n";' \
    "$here/keys.php" "$1" | publish "keys-$1"
}

# Publishes the map values-COUNT with the same keys and values of 16 bits.
publish_values() {
  php -n -r 'require $argv[1]; foreach (keys_by_thousand((int) $argv[2]) as $keys) foreach ($keys as $key) echo $key, "\t", crc32($key) >> 16, "\n";' \
    "$here/keys.php" "$1" >"$work/values.tsv"
  mkdir -p "$work/sets"
  "$build/bin/keysieve" build --set "values-$1" --fpr 0.001 --values "$work/values.tsv" -o "$work/map.ks" >/dev/null
  "$build/bin/keysieve" publish --directory "$work/sets" "$work/map.ks" >/dev/null
}
