<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\AsksDoctor;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Doctor;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Tmpfs;
use PHPUnit\Framework\TestCase;

/** What `keysieve doctor` finds in the directory alone. */
final class DoctorTest extends TestCase
{
    use AsksDoctor;

    public function testAKeyProfileIsNamed(): void
    {
        $this->publish('tags', options: ['--key-profile', 'nfc-lower']);
        self::assertStringContainsString('1 keys, key profile "nfc-lower", format', $this->ask()->about('set tags')['seen']);
    }

    public function testADirectoryThatIsMissing(): void
    {
        $this->assertError(Doctor::ask('/dev/shm/keysieve-none'), 'directory', 'No such file or directory', 'systemctl restart keysieved');
    }

    public function testADirectoryInWhichNothingIsPublished(): void
    {
        $this->assertError($this->ask(), 'sets', 'no set is published', 'journalctl');
    }

    public function testADirectoryThatAnybodyMayWriteTo(): void
    {
        chmod($this->memory->path, 0777);
        $this->assertError($this->ask(), 'directory', 'mode 0777', "chmod o-w {$this->memory->path}");
    }

    public function testASetThatItsGroupMayWriteTo(): void
    {
        $this->publish('tags');
        chmod("{$this->memory->path}/tags", 02770);
        $this->assertError($this->ask(), 'set tags', 'may write to it', "chmod -R go-w {$this->memory->path}/tags");
    }

    public function testADiskInsteadOfMemory(): void
    {
        SharedMemory::put('on-disk', ['apple']);
        if (str_contains(Program::output(['stat', '-f', '-c', '%T', SharedMemory::directory()]), 'tmpfs')) {
            self::markTestSkipped('TMPDIR is a tmpfs');
        }
        $doctor = Doctor::ask(SharedMemory::directory());
        self::assertSame('warning', $doctor->about('file system')['health'], (string) $doctor);
    }

    public function testAFullFileSystem(): void
    {
        $this->needRoot();
        $this->memory = new Tmpfs('size=1m');
        $this->publish('tags', range(1, 100_000)); // 140 KiB
        $doctor = $this->ask();
        self::assertSame('ok', $doctor->about('room')['health'], (string) $doctor);
        file_put_contents("{$this->memory->path}/ballast", str_repeat('x', 800 * 1024));
        $this->assertError($this->ask(), 'room', 'the next publication of tags (140.0 KiB) does not fit', 'remount,size=');
    }

    public function testATmpfsForLessThanThreePublications(): void
    {
        $this->needRoot();
        $this->memory = new Tmpfs('size=400k');
        $this->publish('tags', range(1, 100_000));
        $doctor = $this->ask();
        self::assertSame('warning', $doctor->about('room')['health'], (string) $doctor);
        self::assertSame(0, $doctor->status);
    }

    public function testAMountWithoutHugePagesForALargeSet(): void
    {
        $this->needRoot();
        $this->memory = new Tmpfs('size=100m,huge=never');
        $this->publish('small');
        self::assertSame('ok', $this->ask()->about('huge pages')['health']);
        $this->publish('large', range(1, 3_000_000), ['--fpr', '1e-6']); // 23 MiB
        $finding = $this->ask()->about('huge pages');
        self::assertSame('warning', $finding['health'], $finding['seen']);
        self::assertStringContainsString('huge=never, and large has 2', $finding['seen']);
        Program::output(explode(' ', explode(', if', $finding['remedy'])[0]));
        self::assertSame('ok', $this->ask()->about('huge pages')['health']);
    }

    public function testTooLittleMemoryForTheNextPublication(): void
    {
        $this->needRoot();
        $this->publish('tags', range(1, 100_000)); // 140 KiB
        $with = fn (string $memory): Doctor => $this->ask(wrapper: self::where(['/proc/meminfo' => $this->file("MemAvailable: $memory\n")]));
        $this->assertError($with('100 kB'), 'memory', '100.0 KiB available on this host', 'free memory');
        self::assertSame('ok', $with('200 kB')->about('memory')['health']);
    }

    public function testASetThatHasExpired(): void
    {
        $this->publish('tags', options: ['--as-of', '@1700000000', '--valid-for', '1h']);
        $this->assertError($this->ask(), 'set tags', 'expired', 'build and push it anew');
    }

    public function testASetThatIsBypassed(): void
    {
        $this->publish('tags');
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'bypass', 'tags', '--directory', $this->memory->path]);
        $doctor = $this->ask();
        self::assertSame(0, $doctor->status, 'somebody wants it so');
        self::assertSame('warning', $doctor->about('set tags')['health']);
        self::assertSame('bypassed by an operator of this host', $doctor->about('set tags')['seen']);
        self::assertSame('keysieve bypass tags --off', $doctor->about('set tags')['remedy']);
    }

    /** @group upgrade */
    public function testASnapshotOfALaterFormat(): void
    {
        $next = getenv('KEYSIEVE_BIN_DIR') . '/format2/keysieve';
        file_put_contents("{$this->memory->path}/keys", "apple\n");
        Program::output([$next, 'build', '--set', 'tags', "{$this->memory->path}/keys", '-o', "{$this->memory->path}/tags.ks"]);
        Program::output([$next, 'publish', '--directory', $this->memory->path, "{$this->memory->path}/tags.ks"]);
        $this->assertError($this->ask(), 'set tags', 'snapshot format 2, this version reads 1', 'upgrade keysieve on this host first');
    }

    public function testAClockThatHasGoneBack(): void
    {
        $this->publish('tags');
        $this->assertError($this->ask(wrapper: Clock::moved('-3600s')), 'clock', 'but tags is of', 'timedatectl');
    }

    public function testTheTextSaysTheSame(): void
    {
        chmod($this->memory->path, 0777);
        $program = Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $this->memory->path]);
        self::assertSame(1, $program->status);
        self::assertMatchesRegularExpression('~^error +directory +.*mode 0777.*\n +→ chmod o-w ~m', $program->output);
        self::assertMatchesRegularExpression('~^ok +file system +.* is a tmpfs\n~m', $program->output);
    }

    /**
     * @param array<string|int> $keys
     * @param string[]          $options of `keysieve build`
     */
    private function publish(string $set, array $keys = ['apple'], array $options = []): void
    {
        $this->memory->publish(SharedMemory::build($set, $keys, $options));
    }

    /** @param string[] $wrapper */
    private function ask(array $wrapper = []): Doctor
    {
        return Doctor::ask($this->memory->path, wrapper: $wrapper);
    }
}
