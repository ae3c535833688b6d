<?php
// What a request of the test of the packages is answered: the worker, and what it says of a key that is in the set and of
// one that is not. Without the extension: that it is not there.
header('Content-Type: text/plain');
if (!extension_loaded('keysieve')) {
    exit('no extension');
}
$set = new KeySieve\Set('tags');
$say = static fn (string $key): string => $set->mayContain($key) ? 'maybe' : 'absent';
echo "{$set->availability()->name} 猫:{$say('猫')} 犬:{$say('犬')} generation:", $set->info()?->generation ?? 'none', ' worker:', getmypid();
