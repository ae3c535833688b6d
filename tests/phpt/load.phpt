--TEST--
The module loads and says its version
--FILE--
<?php
var_dump(extension_loaded('keysieve'));
echo preg_match('/^\d+\.\d+\.\d+$/', phpversion('keysieve')), "\n";
$extension = new ReflectionExtension('keysieve');
print_r(array_keys($extension->getClasses()));
print_r(array_keys($extension->getFunctions()));
print_r($extension->getDependencies());
?>
--EXPECT--
bool(true)
1
Array
(
    [0] => KeySieve\Availability
    [1] => KeySieve\Key
    [2] => KeySieve\Membership
    [3] => KeySieve\Set
    [4] => KeySieve\Map
    [5] => KeySieve\Info
    [6] => KeySieve\SeenKeys
    [7] => KeySieve\SeenSet
    [8] => KeySieve\SeenInfo
    [9] => KeySieve\LocalFilter
    [10] => KeySieve\Exception
    [11] => KeySieve\UnavailableException
    [12] => KeySieve\InvalidNameException
)
Array
(
    [0] => KeySieve\may_contain
    [1] => KeySieve\candidate_sets
    [2] => KeySieve\stats
    [3] => KeySieve\begin_request
)
Array
(
    [date] => Required
    [spl] => Required
)
