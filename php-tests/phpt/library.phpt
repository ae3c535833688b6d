--TEST--
The built library exports get_module alone and needs no library but that of C++
--FILE--
<?php
$library = getenv('KEYSIEVE_EXTENSION');
exec('nm -D --defined-only ' . escapeshellarg($library), $symbols);
foreach ($symbols as $symbol) {
    echo preg_replace('/^\S+ /', '', $symbol), "\n";
}
exec('objdump -p ' . escapeshellarg($library), $lines);
$needed = array_values(preg_filter('/^\s*NEEDED\s+(\S+?)\.so.*/', '$1', $lines));
print_r(array_diff($needed, ['libc', 'libm', 'libgcc_s', 'ld-linux-x86-64', 'ld-linux-aarch64']));
// Resolved when the module loads, so that nothing is found missing in a request.
echo implode(' ', preg_grep('/BIND_NOW|FLAGS.*0x0*8$/', $lines)) !== '' ? "bound at once\n" : "bound lazily\n";
?>
--EXPECT--
T get_module
Array
(
    [0] => libstdc++
)
bound at once
