<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\AsksDoctor;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Doctor;
use KeySieve\Tests\Support\FastCgiRequest;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Tmpfs;
use PHPUnit\Framework\TestCase;

/** What `keysieve doctor --fastcgi` finds: it asks workers of a real php-fpm. */
final class DoctorWorkerTest extends TestCase
{
    use AsksDoctor;

    public function testAHealthyHostIsAllOk(): void
    {
        $this->publish('tags');
        $doctor = $this->ask($this->pool());
        self::assertSame('', (string) $doctor);
        self::assertSame(0, $doctor->status);
        self::assertSame('answers from publication 1', $doctor->about('worker, set tags')['seen']);
        self::assertStringContainsString('PHP ' . PHP_VERSION . ' (fpm-fcgi', $doctor->about('extension')['seen']);
        self::assertStringContainsString('reads snapshot format 1', $doctor->about('extension')['seen']);
        self::assertSame('ok', $doctor->about('clock of the worker')['health']);
    }

    public function testTheScriptIsGoneAfterwards(): void
    {
        $folder = $this->memory->path; // where nobody else asks at this moment
        $doctor = $this->ask($this->pool(), ['--script-folder', $folder]);
        self::assertSame('ok', $doctor->about('extension')['health']);
        self::assertSame([], glob("$folder/keysieve-doctor-*"));
    }

    public function testASetWhoseNamePhpTakesForFalse(): void
    {
        $this->publish('0');
        $doctor = $this->ask($this->pool());
        self::assertSame('answers from publication 1', $doctor->about('worker, set 0')['seen']);
    }

    public function testAWorkerThatListensToAPort(): void
    {
        $this->publish('tags');
        $listening = stream_socket_server('tcp://127.0.0.1:0');
        $pool = $this->pool(listening: $listening);
        $doctor = Doctor::ask($this->memory->path, ['--fastcgi', stream_socket_get_name($listening, false)]);
        self::assertSame('', (string) $doctor);
    }

    public function testAHostOfSeveralAddresses(): void
    {
        $this->needRoot();
        $this->publish('tags');
        $listening = stream_socket_server('tcp://127.0.0.2:0');
        $pool = $this->pool(listening: $listening);
        $port = parse_url('tcp://' . stream_socket_get_name($listening, false), PHP_URL_PORT);
        $wrapper = self::where(['/etc/hosts' => $this->file("127.0.0.1 both\n127.0.0.2 both\n")]);
        self::assertSame('', (string) Doctor::ask($this->memory->path, ['--fastcgi', "both:$port"], $wrapper));
    }

    public function testNoServer(): void
    {
        $this->publish('tags');
        $doctor = Doctor::ask($this->memory->path, ['--fastcgi', 'unix:/run/php/none.sock']);
        $this->assertError($doctor, 'worker', 'unix:/run/php/none.sock: No such file or directory', 'systemctl status');
    }

    public function testAServerThatDoesNotSpeakFastCgi(): void
    {
        $this->publish('tags');
        $listening = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($listening, false);
        $server = proc_open([PHP_BINARY, '-n', '-r', 'fclose(stream_socket_accept(STDIN));'], [$listening], $pipes);
        $doctor = Doctor::ask($this->memory->path, ['--fastcgi', $address]);
        proc_close($server);
        $this->assertError($doctor, 'worker', $address, 'systemctl status');
    }

    public function testAServerThatAnswersDropByDrop(): void
    {
        $this->publish('tags');
        $listening = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($listening, false);
        $drop = <<<'PHP'
            $connection = stream_socket_accept(STDIN);
            $header = pack('CCnnCC', 1, 6, 1, 65_535, 0, 0);
            for ($i = 0; @fwrite($connection, $i < 8 ? $header[$i] : ' ') === 1; ++$i) {
                usleep(20_000);
            }
            PHP;
        $server = proc_open([PHP_BINARY, '-n', '-r', $drop], [$listening], $pipes);
        // Its ten seconds pass in half of one.
        $doctor = Doctor::ask($this->memory->path, ['--fastcgi', $address], Clock::moved('+0 x20'));
        proc_terminate($server, SIGKILL);
        proc_close($server);
        $this->assertError($doctor, 'worker', "$address: does not answer within 10 s", 'systemctl status');
    }

    public function testAnAddressThatIsNotUnderstood(): void
    {
        $program = Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $this->memory->path, '--fastcgi', 'fpm']);
        self::assertSame(64, $program->status);
        self::assertStringContainsString('"fpm" is not understood', $program->errors);
    }

    public function testPhpWithoutTheExtension(): void
    {
        $this->publish('tags');
        $doctor = $this->ask($this->pool(extensions: []));
        $version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        $this->assertError($doctor, 'extension', 'runs without keysieve', "apt install php$version-keysieve");
    }

    public function testAnExtensionThatWasReplaced(): void
    {
        $this->publish('tags');
        $copy = "{$this->memory->path}/keysieve.so";
        copy(getenv('KEYSIEVE_EXTENSION'), $copy);
        $pool = $this->pool(extensions: [$copy]);
        unlink($copy);
        $doctor = $this->ask($pool);
        self::assertSame('warning', $doctor->about('extension')['health'], (string) $doctor);
        self::assertStringContainsString('systemctl restart php', $doctor->about('extension')['remedy']);
        self::assertSame(0, $doctor->status);
    }

    public function testAnotherDirectoryInPhp(): void
    {
        $this->publish('tags');
        $other = new Tmpfs();
        $doctor = $this->ask($this->pool(directives: ['php_admin_value[keysieve.directory]' => $other->path]));
        $this->assertError($doctor, 'keysieve.directory', "is {$other->path} in PHP", "keysieve.directory = {$this->memory->path}");
        $this->assertError($doctor, 'worker, set tags', 'maybe: Missing', 'see keysieve.directory');
        self::assertNotContains('access', array_column($doctor->findings, 'subject'), 'the worker does not come here');
    }

    public function testKeysieveSwitchedOff(): void
    {
        $this->publish('tags');
        $doctor = $this->ask($this->pool(['keysieve.enabled' => '0']));
        $this->assertError($doctor, 'keysieve.enabled', 'every lookup answers maybe', 'keysieve.enabled = 1');
        $this->assertError($doctor, 'worker, set tags', 'Disabled', 'see above');
    }

    public function testAPoolThatMayNotCallWhatTellsOfTheWorker(): void
    {
        $this->publish('tags');
        $disabled = 'getmypid,getenv,ini_get,extension_loaded,phpversion,posix_geteuid,posix_getegid,posix_getgroups';
        $pool = $this->pool(directives: ['php_admin_value[disable_functions]' => $disabled]);
        $doctor = $this->ask($pool);
        self::assertSame('', (string) $doctor);
        self::assertSame('answers from publication 1', $doctor->about('worker, set tags')['seen']);
        self::assertSame($this->memory->path, $doctor->about('keysieve.directory')['seen']);
    }

    public function testAScriptThatFails(): void
    {
        $this->publish('tags');
        $pool = $this->pool(directives: [
            'php_admin_value[disable_functions]' => 'json_encode',
            'php_admin_value[display_errors]' => '1',
        ]);
        $doctor = $this->ask($pool);
        $this->assertError($doctor, 'worker', 'and failed: ', 'disable_functions');
        self::assertStringContainsString('json_encode()', $doctor->about('worker')['seen']);
        $silent = $this->pool(directives: ['php_admin_value[disable_functions]' => 'json_encode']);
        $this->assertError($this->ask($silent), 'worker', 'and failed', "PHP's error log");
    }

    public function testAnInstructionSetOfTheEnvironment(): void
    {
        $this->publish('tags');
        $doctor = $this->ask($this->pool(directives: ['env[KEYSIEVE_INSTRUCTION_SET]' => 'scalar']));
        self::assertSame('warning', $doctor->about('KEYSIEVE_INSTRUCTION_SET')['health'], (string) $doctor);
    }

    public function testAnOwnerWhomPhpDoesNotTrust(): void
    {
        $this->needRoot();
        $this->publishAs('daemon', 'www-data');
        $doctor = $this->ask($this->pool(['keysieve.owner' => 'nobody'], ['user' => 'www-data']));
        $this->assertError($doctor, 'keysieve.owner', 'belongs to daemon, who is not trusted', 'keysieve.owner = daemon');
        $this->assertError($doctor, 'access', 'not trusted', 'keysieve.owner');
        $this->assertError($doctor, 'worker, set tags', 'Missing', 'error log');
        $right = $this->ask($this->pool(['keysieve.owner' => 'daemon'], ['user' => 'www-data']));
        self::assertSame('', (string) $right);
    }

    /** Of root, and open to the group of the pod, so that the loader can publish in it. */
    public function testAVolumeAsKubernetesMakesIt(): void
    {
        $this->needRoot();
        $this->publish('tags', ['--group', 'www-data']);
        Program::output(['chown', '-R', 'daemon', "{$this->memory->path}/tags"]);
        chmod($this->memory->path, 02777);
        $pool = fn (string $owner): FpmPool => $this->pool(['keysieve.owner' => $owner], ['user' => 'www-data']);
        $doctor = $this->ask($pool('daemon'));
        self::assertSame(0, $doctor->status);
        self::assertSame(['directory'], $doctor->subjectsInNeed(), (string) $doctor);
        self::assertStringContainsString('mount it readOnly', $doctor->about('directory')['remedy']);
        $wrong = $this->ask($pool('nobody'));
        $this->assertError($wrong, 'keysieve.owner', 'belongs to daemon, who is not trusted', 'keysieve.owner = daemon');
        $readOnly = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
        $wrapper = ['unshare', '--mount', 'sh', '-c', $readOnly, $this->memory->path];
        self::assertSame('', (string) $this->ask($pool('daemon'), wrapper: $wrapper));
    }

    public function testAnOwnerWhomNobodyKnows(): void
    {
        $this->needRoot();
        $this->publishAs('daemon', 'www-data');
        $doctor = $this->ask($this->pool(['keysieve.owner' => 'no-such-user'], ['user' => 'www-data']));
        $this->assertError($doctor, 'keysieve.owner', 'user "no-such-user" is not known', 'keysieve.owner = daemon');
    }

    public function testAWorkerOutsideTheGroup(): void
    {
        $this->needRoot();
        $this->publishAs('daemon', 'daemon');
        $doctor = $this->ask($this->pool(['keysieve.owner' => 'daemon'], ['user' => 'www-data']));
        $this->assertError($doctor, 'access', 'www-data (groups www-data) cannot read tags: ', 'usermod -aG daemon www-data');
        self::assertStringContainsString('Permission denied', $doctor->about('access')['seen']);
        $this->assertError($doctor, 'worker, set tags', 'Missing', 'error log');
    }

    public function testAChroot(): void
    {
        $this->needRoot();
        SharedMemory::put('doctored', ['apple']);
        $root = sys_get_temp_dir();
        $pool = new FpmPool('', ['pages' => ['chroot' => $root, 'php_admin_value[error_log]' => null]]);
        $arguments = ['--fastcgi', "unix:{$pool->socket}", '--script-folder', '/'];
        $wrong = Doctor::ask(SharedMemory::directory(), $arguments);
        $this->assertError($wrong, 'worker', 'does not run', '--chroot');
        $doctor = Doctor::ask(SharedMemory::directory(), [...$arguments, '--chroot', $root]);
        self::assertStringContainsString('answers from publication', $doctor->about('worker, set doctored')['seen'], (string) $doctor);
        self::assertSame('ok', $doctor->about('keysieve.directory')['health']);
        self::assertSame('ok', $doctor->about('access')['health']);
        self::assertSame($root, $doctor->about('chroot')['seen']);
    }

    public function testOpenBasedir(): void
    {
        $this->publish('tags');
        $pool = $this->pool(directives: ['php_admin_value[open_basedir]' => '{folder}']);
        $this->assertError($this->ask($pool), 'worker', 'does not run', '--script-folder');
        $doctor = $this->ask($pool, ['--script-folder', dirname($pool->page)]);
        self::assertSame('', (string) $doctor);
        self::assertStringContainsString('does not matter', $doctor->about('open_basedir')['seen']);
    }

    /** It goes to the terminal of root, who asks. */
    public function testAWorkerThatAnswersWithOrdersForATerminal(): void
    {
        $this->publish('tags');
        $pool = $this->pool(directives: ['php_admin_value[open_basedir]' => "{folder}:/\x1B[2J"]);
        $text = Program::run([
            getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $this->memory->path,
            '--fastcgi', "unix:{$pool->socket}", '--script-folder', dirname($pool->page),
        ])->output;
        self::assertStringNotContainsString("\x1B", $text);
        self::assertStringContainsString(":/\u{FFFD}[2J: does not matter", $text);
    }

    public function testAScriptThatAKilledDoctorHasLeftTellsNobodyAnything(): void
    {
        $pool = $this->pool();
        $scripts = $this->scriptsLeftBy(SIGKILL, dirname($pool->page));
        self::assertCount(1, $scripts);
        self::assertSame('', (new FastCgiRequest("unix://{$pool->socket}", $scripts[0]))->body());
    }

    /**
     * @testWith [2]
     *           [15]
     */
    public function testADoctorWhoIsStoppedLeavesNoScript(int $signal): void
    {
        self::assertSame([], $this->scriptsLeftBy($signal, $this->memory->path));
    }

    public function testAClockThatDiffers(): void
    {
        $this->publish('tags');
        $doctor = $this->ask($this->pool(), wrapper: Clock::moved('+600s'));
        $this->assertError($doctor, 'clock of the worker', 'there', 'set the clocks');
    }

    /**
     * @testWith ["php-fpm (enforce)"]
     *           ["system_u:system_r:httpd_t:s0"]
     */
    public function testAWorkerThatIsConfined(string $label): void
    {
        $this->needRoot();
        $this->publish('tags');
        $healthy = $this->askConfined($this->pool(directives: ['pm.max_children' => '1']), $label);
        self::assertSame('', (string) $healthy);
        self::assertSame("the worker runs as $label", $healthy->about('AppArmor, SELinux')['seen']);
        $elsewhere = new Tmpfs();
        $blind = ['pm.max_children' => '1', 'php_admin_value[keysieve.directory]' => $elsewhere->path];
        $finding = $this->askConfined($this->pool(directives: $blind), $label)->about('AppArmor, SELinux');
        self::assertSame('warning', $finding['health']);
        self::assertStringContainsString("\"{$this->memory->path}/** r,\"", $finding['remedy']);
        self::assertStringContainsString("restorecon -R {$this->memory->path}", $finding['remedy']);
    }

    public function testAWorkerThatMayNotMapThreePublications(): void
    {
        $this->needRoot();
        $this->publish('tags');
        $pool = $this->pool(directives: ['pm.max_children' => '1']);
        self::assertSame('', (string) $this->ask($pool));
        Program::output(['prlimit', "--pid={$pool->workers()[0]}", '--as=300']); // it has all that it needs
        $finding = $this->ask($pool)->about('address space');
        self::assertSame('warning', $finding['health']);
        self::assertStringContainsString('may map 300 B', $finding['seen']);
    }

    /** With what a kernel that confines it by a security module shows of the pool's only worker. */
    private function askConfined(FpmPool $pool, string $label): Doctor
    {
        $pool->request()->body(); // so that it has begun
        $shown = ["/proc/{$pool->workers()[0]}/attr/current" => $this->file("$label\n")];
        return $this->ask($pool, wrapper: self::where($shown));
    }

    /** @return string[] the scripts that a doctor leaves in a folder who is ended while a worker keeps it waiting */
    private function scriptsLeftBy(int $signal, string $folder): array
    {
        $mute = stream_socket_server('tcp://127.0.0.1:0');
        $doctor = proc_open(
            [
                getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $this->memory->path,
                '--fastcgi', stream_socket_get_name($mute, false), '--script-folder', $folder,
            ],
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w']],
            $pipes,
        );
        $connection = stream_socket_accept($mute); // open, so that the doctor waits
        self::assertCount(1, glob("$folder/keysieve-doctor-*.php"));
        proc_terminate($doctor, $signal);
        proc_close($doctor);
        return glob("$folder/keysieve-doctor-*.php");
    }

    /** @param string[] $options of `keysieve publish` */
    private function publish(string $set, array $options = []): void
    {
        $this->memory->publish(SharedMemory::build($set, ['apple']), $options);
    }

    private function publishAs(string $owner, string $group): void
    {
        $this->publish('tags', ['--group', $group]);
        Program::output(['chown', '-R', $owner, $this->memory->path]);
    }

    /**
     * @param array<string, ?string> $settings   as of php.ini
     * @param array<string, ?string> $directives of the pool
     * @param ?resource              $listening
     * @param ?string[]              $extensions in place of keysieve's
     */
    private function pool(array $settings = [], array $directives = [], $listening = null, ?array $extensions = null): FpmPool
    {
        $directives += ['php_admin_value[keysieve.directory]' => $this->memory->path];
        return new FpmPool('', ['pages' => $directives], $listening, $settings, $extensions);
    }

    /**
     * @param string[] $arguments
     * @param string[] $wrapper
     */
    private function ask(FpmPool $pool, array $arguments = [], array $wrapper = []): Doctor
    {
        return Doctor::ask($this->memory->path, ['--fastcgi', "unix:{$pool->socket}", ...$arguments], $wrapper);
    }
}
