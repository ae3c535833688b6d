--TEST--
The settings, their defaults, and that code cannot change them
--FILE--
<?php
foreach (ini_get_all('keysieve') as $name => $setting) {
    printf("%s=%s access=%d\n", $name, $setting['local_value'], $setting['access']);
    var_dump(ini_set($name, '0'));
}
?>
--EXPECT--
keysieve.directory=/run/keysieve access=4
bool(false)
keysieve.enabled=1 access=4
bool(false)
keysieve.on_unavailable=maybe access=4
bool(false)
keysieve.owner=keysieve access=4
bool(false)
