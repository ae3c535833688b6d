--TEST--
The built library exports get_module alone, needs no library but those of C and C++, makes and renames no files, and is hardened
--FILE--
<?php
$library = escapeshellarg(getenv('KEYSIEVE_EXTENSION') ?: ini_get('extension_dir') . '/keysieve.so');
exec("nm -D --defined-only $library", $symbols);
foreach ($symbols as $symbol) {
    echo preg_replace('/^\S+ /', '', $symbol), "\n";
}
// What only publishers need.
exec("nm -D --undefined-only $library", $used);
$makes_files = ['renameat', 'mkdirat', 'unlinkat', 'fchmod', 'fchown', 'fchownat'];
print_r(array_intersect(preg_replace('/^\s*U ([^@]*).*$/', '$1', $used), $makes_files));
$headers = shell_exec("objdump -p $library");
preg_match_all('/^\s*NEEDED\s+(\S+?)\.so/m', $headers, $needed);
$ever_there = ['libc', 'libm', 'libgcc_s', 'ld-linux-x86-64', 'ld-linux-aarch64', 'libc.musl-x86_64', 'libc.musl-aarch64'];
print_r(array_values(array_diff($needed[1], $ever_there)));
// Resolved when the module loads, so that nothing is found missing in a request.
echo preg_match('/BIND_NOW|FLAGS.*0x0*8$/m', $headers) ? "bound at once\n" : "bound lazily\n";
echo preg_match('/^\s*RELRO/m', $headers) ? "read-only then\n" : "writable for ever\n";
echo preg_match('/^\s*STACK.*\n.*flags rw-$/m', $headers) ? "no code on the stack\n" : "code on the stack\n";
echo preg_match('/TEXTREL|RPATH|RUNPATH/', $headers) ? "changes code, or looks for libraries elsewhere\n" : '';
?>
--EXPECT--
T get_module
Array
(
)
Array
(
    [0] => libstdc++
)
bound at once
read-only then
no code on the stack
