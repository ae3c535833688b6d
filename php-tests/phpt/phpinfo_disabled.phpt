--TEST--
phpinfo() says when keysieve is switched off
--INI--
keysieve.enabled=0
--FILE--
<?php
(new ReflectionExtension('keysieve'))->info();
?>
--EXPECTF--
%Akeysieve support => disabled%A
