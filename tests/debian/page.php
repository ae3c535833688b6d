<?php
// Answers a request of the packages' test: the result for a key that is in the set and for one that is not, and the worker's
// pid. Without the extension: that it is not there.
header('Content-Type: text/plain');
if (!extension_loaded('keysieve')) {
    exit('no extension');
}
$set = new KeySieve\Set('tags');
$say = static fn (string $key): string => $set->mayContain($key) ? 'maybe' : 'absent';
$generation = $set->info()?->generation ?? 'none';
echo "{$set->availability()->name} 猫:{$say('猫')} 犬:{$say('犬')} generation:$generation worker:", getmypid();
