<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\AsksDoctor;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Doctor;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** What `keysieve doctor` says of folders that belong to another than who publishes in the directory. */
final class DoctorForeignFolderTest extends TestCase
{
    use AsksDoctor {
        setUp as makeDirectory;
    }

    protected function setUp(): void
    {
        $this->makeDirectory();
        $this->needRoot();
    }

    /** As in /var/lib, where each folder could be a set's by its name. */
    public function testFoldersOfOtherPrograms(): void
    {
        $this->makeFolder('mysql', 'daemon', 0700);
        $this->makeFolder('local', 'root', 02775);
        $question = 'whose is it? keysieved has not made it, or --directory is wrong';
        $ask = fn (string ...$arguments): Doctor => Doctor::ask($this->memory->path, $arguments);
        $ofThis = new Loader(['tags'], directory: $this->memory->path);
        $ofAnother = new Loader(['local', 'mysql'], directory: SharedMemory::directory());
        foreach (['local', 'mysql'] as $folder) {
            $remedy = static fn (string ...$arguments): string => $ask(...$arguments)->about("set $folder")['remedy'];
            self::assertSame("$question; --config FILE, that of keysieved, tells", $remedy('--as', 'www-data'));
            self::assertSame($question, $remedy('--config', $ofThis->config));
            self::assertSame($question, $remedy('--config', $ofAnother->config));
        }
    }

    /** Made beforehand for the loader, which publishes there, but in no other folder. */
    public function testADirectoryOfAnotherThanItsLoader(): void
    {
        $loader = $this->loaderOfDaemon();
        $this->makeFolder('tags', 'daemon', 0750);
        self::assertSame('start keysieved, and ask again, as root, where it is seen to run', $this->remedyBeside($loader));
        $loader->startAs('daemon');
        $this->assertPublishes($loader, 1);
        $this->assertObeyed($loader, "chown daemon {$this->memory->path}");
        $loader->push(SharedMemory::build('tags', ['pear']));
        $this->assertPublishes($loader, 2);
    }

    public function testADirectoryWithFoldersOfOthersIsGivenToNobody(): void
    {
        $loader = $this->loaderOfDaemon();
        $this->makeFolder('tags', 'daemon', 0750);
        $this->makeFolder('mysql', 'www-data', 0700);
        $loader->startAs('daemon');
        $this->assertPublishes($loader, 1);
        self::assertSame("keysieved needs a directory of its own: directory = … in {$loader->config}", $this->remedyBeside($loader));
        rmdir("{$this->memory->path}/mysql");
        $this->assertObeyed($loader, "chown daemon {$this->memory->path}");
    }

    /**
     * Root has published by hand; the loader may replace the set in the first of them alone.
     *
     * @testWith [511, ""]
     *           [509, "chown daemon {directory}; "]
     *           [493, "chown daemon {directory}; "]
     */
    public function testASetOfRootInADirectoryOfThatMode(int $mode, string $first): void
    {
        $loader = $this->loaderOfDaemon();
        $this->memory->publish(SharedMemory::build('tags', ['apple']));
        chgrp($this->memory->path, 'adm');
        chmod($this->memory->path, $mode);
        $loader->startAs('daemon');
        $commands = str_replace('{directory}', $this->memory->path, $first) . "rm -r {$this->memory->path}/tags";
        $this->assertObeyed($loader, $commands, '; keysieved makes it anew', 'folder of tags');
        $this->assertPublishes($loader, 1);
    }

    /** One that has a snapshot to publish, and is not started. */
    private function loaderOfDaemon(): Loader
    {
        $loader = new Loader(['tags'], directory: $this->memory->path);
        $loader->stop(SIGTERM);
        Program::output(['rm', '-rf', "{$this->memory->path}/tags"]);
        $loader->push(SharedMemory::build('tags', ['apple']));
        Program::output(['chown', '-R', 'daemon:daemon', $loader->folder]);
        return $loader;
    }

    private function makeFolder(string $name, string $owner, int $mode): void
    {
        mkdir("{$this->memory->path}/$name");
        chown("{$this->memory->path}/$name", $owner);
        chmod("{$this->memory->path}/$name", $mode);
    }

    private function assertPublishes(Loader $loader, int $publication): void
    {
        $current = sprintf('%s/tags/%016x.ks', $this->memory->path, $publication);
        $isThere = static fn (): bool => file_exists($current) && posix_getpwuid(fileowner($current))['name'] === 'daemon';
        self::assertTrue(Deadline::reaches($isThere), $loader->log());
    }

    /** Does what the doctor tells; the set is well once the loader has done the rest. */
    private function assertObeyed(Loader $loader, string $commands, string $rest = '', string $subject = 'set tags'): void
    {
        $isTold = fn (): bool => $this->remedyBeside($loader, $subject) === $commands . $rest;
        self::assertTrue(Deadline::reaches($isTold), "{$this->remedyBeside($loader, $subject)}\n{$loader->log()}");
        Program::output(['sh', '-c', $commands]);
        $isReady = fn (): bool => $this->askBeside($loader)->about('set tags')['health'] === 'ok';
        self::assertTrue(Deadline::reaches($isReady), "{$this->askBeside($loader)}{$loader->log()}");
    }

    private function remedyBeside(Loader $loader, string $subject = 'set tags'): ?string
    {
        return array_column($this->askBeside($loader)->findings, 'remedy', 'subject')[$subject] ?? null;
    }

    private function askBeside(Loader $loader): Doctor
    {
        return Doctor::ask($this->memory->path, ['--config', $loader->config, '--as', 'daemon']);
    }
}
