--TEST--
The module loads and says its version
--FILE--
<?php
var_dump(extension_loaded('keysieve'));
echo preg_match('/^\d+\.\d+\.\d+(-rc\d+)?$/', phpversion('keysieve')), "\n";
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
    [1] => KeySieve\Membership
    [2] => KeySieve\Set
    [3] => KeySieve\Map
    [4] => KeySieve\Info
    [5] => KeySieve\SeenKeys
    [6] => KeySieve\SeenSet
    [7] => KeySieve\SeenInfo
    [8] => KeySieve\LocalFilter
    [9] => KeySieve\Exception
    [10] => KeySieve\UnavailableException
    [11] => KeySieve\InvalidNameException
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
