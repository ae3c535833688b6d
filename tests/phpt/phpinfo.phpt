--TEST--
phpinfo() says version and directory
--INI--
keysieve.directory=/srv/keysieve
--FILE--
<?php
(new ReflectionExtension('keysieve'))->info();
?>
--EXPECTF--
keysieve

keysieve support => enabled
keysieve version => %d.%d.%d%S
Snapshot formats => 1
Directory => /srv/keysieve

Directive => Local Value => Master Value
keysieve.enabled => On => On
keysieve.directory => /srv/keysieve => /srv/keysieve
keysieve.owner => keysieve => keysieve
keysieve.on_unavailable => maybe => maybe
