--TEST--
A setting with a bad value is refused with a warning, and the default holds
--INI--
keysieve.directory=run/keysieve
keysieve.on_unavailable=explode
display_startup_errors=1
log_errors=0
error_log=/dev/null
--FILE--
<?php
var_dump(ini_get('keysieve.directory'), ini_get('keysieve.on_unavailable'));
echo (new KeySieve\Set('never-published'))->availability()->name, "\n"
?>
--EXPECTF--
%AWarning: keysieve.directory must be an absolute path, not "run/keysieve" in %s

Warning: keysieve.on_unavailable must be "maybe" or "throw", not "explode" in %s
string(13) "/run/keysieve"
string(5) "maybe"
Missing
