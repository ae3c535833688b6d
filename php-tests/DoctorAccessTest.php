<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\AsksDoctor;
use KeySieve\Tests\Support\Doctor;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** What `keysieve doctor --as` finds: who may read what is published, and what lets him. */
final class DoctorAccessTest extends TestCase
{
    use AsksDoctor;

    public function testAUserOutsideTheGroup(): void
    {
        $this->publishAs('daemon', 'daemon');
        $this->assertError($this->askAs('nobody'), 'access', 'Permission denied', 'usermod -aG daemon nobody');
        self::assertSame('ok', $this->askAs('daemon')->about('access')['health']);
    }

    public static function foldersOfOthers(): iterable
    {
        yield 'of root and its group' => ['root', 'root'];
        yield 'of root' => ['root', 'daemon'];
        yield 'of the group root' => ['daemon', 'root'];
        yield 'of a group that is not its owner\'s' => ['daemon', 'adm'];
    }

    /**
     * Nobody is told to join a group that gives him more than the sets.
     *
     * @dataProvider foldersOfOthers
     */
    public function testAFolderWhoseGroupIsNotTheLoaders(string $owner, string $group): void
    {
        $this->publishAs($owner, $group);
        $folder = "{$this->memory->path}/tags";
        $this->obey('www-data', "chgrp -R www-data $folder", self::restOf('www-data'));
        $this->assertReads('www-data');
    }

    public function testAFolderThatKeepsItsOwnGroupOut(): void
    {
        $this->publishAs('daemon', 'www-data');
        chmod("{$this->memory->path}/tags", 0700);
        $folder = "{$this->memory->path}/tags";
        $this->obey('www-data', "chmod g+rx $folder; chmod g+r $folder/control $folder/*.ks $folder/*.live");
        $this->assertReads('www-data');
    }

    public function testFilesThatKeepTheirGroupOut(): void
    {
        $this->publishAs('daemon', 'www-data');
        $folder = "{$this->memory->path}/tags";
        Program::output(['sh', '-c', "chmod g-r $folder/*"]);
        $this->obey('www-data', "chmod g+rx $folder; chmod g+r $folder/control $folder/*.ks $folder/*.live");
        $this->assertReads('www-data');
    }

    public function testADirectoryThatKeepsItsOwnGroupOut(): void
    {
        $this->publishAs('daemon', 'www-data', 0700);
        $this->obey('www-data', "chmod g+rx {$this->memory->path}");
        $this->assertReads('www-data');
    }

    public function testADirectoryOfAnotherGroup(): void
    {
        $this->publishAs('daemon', 'www-data', 0750);
        $directory = $this->memory->path;
        $this->obey('nobody', "chgrp nogroup $directory", '; and Group=nogroup in the unit of keysieved');
        $this->obey('nobody', "chgrp -R nogroup $directory/tags", self::restOf('nogroup'));
        $this->assertReads('nobody');
    }

    public function testADirectoryForNobodyButItsOwner(): void
    {
        $this->publishAs('root', 'root', 0700);
        $directory = $this->memory->path;
        $commands = ["chgrp www-data $directory", "chmod g+rx $directory"];
        $this->obey('www-data', implode('; ', $commands), '; and Group=www-data in the unit of keysieved');
        $this->obey('www-data', "chgrp -R www-data $directory/tags", self::restOf('www-data'));
        $this->assertReads('www-data');
    }

    public function testADirectoryOfTheLoadersGroup(): void
    {
        $this->publishAs('daemon', 'daemon', 0750);
        $remedy = 'usermod -aG daemon nobody; or Group=nogroup in the unit of keysieved';
        $this->assertError($this->askAs('nobody'), 'access', "cannot pass {$this->memory->path}: Permission denied", $remedy);
    }

    /** No volume, though root has opened it to its group. */
    public function testADirectoryOfRootForTheLoadersGroup(): void
    {
        $this->publishAs('daemon', 'daemon');
        chown($this->memory->path, 'root');
        chmod($this->memory->path, 02770);
        $remedy = "chgrp www-data {$this->memory->path}; and Group=www-data in the unit of keysieved";
        self::assertSame($remedy, $this->askAs('www-data')->about('access')['remedy']);
    }

    public function testAUserWhoseGroupsAreNotKnown(): void
    {
        $this->publishAs('daemon', 'daemon');
        $elsewhere = 'its groups are not known here: ask with --fastcgi, or in its container';
        $this->assertError($this->askAs('54322'), 'access', '54322 (groups not known) cannot read tags', $elsewhere);
        chmod($this->memory->path, 0700);
        $this->assertError($this->askAs('54322'), 'access', "cannot pass {$this->memory->path}: ", $elsewhere);
    }

    public function testAUserWhoHasGroupsButNoName(): void
    {
        $this->publishAs('daemon', 'daemon', 0755);
        $wrapper = ['setpriv', '--reuid=54322', '--regid=54322', '--clear-groups'];
        $himself = Doctor::ask($this->memory->path, ['--as', '54322'], $wrapper)->about('access');
        self::assertStringStartsWith('54322 (groups 54322) cannot read tags', $himself['seen']);
        self::assertStringStartsWith("chgrp -R 54322 {$this->memory->path}/tags", $himself['remedy'], 'he cannot join a group');
    }

    public function testAFolderAroundTheDirectory(): void
    {
        $this->publishAs('daemon', 'www-data');
        $outer = $this->memory->path;
        mkdir("$outer/sets", 0711);
        rename("$outer/tags", "$outer/sets/tags");
        chmod($outer, 0700);
        chown("$outer/sets", 'daemon');
        $doctor = Doctor::ask("$outer/sets", ['--as', 'www-data']);
        $this->assertError($doctor, 'access', "cannot pass $outer: Permission denied", "chmod go+x $outer");
        $this->assertError(Doctor::ask("$outer/sets", ['--as', '54322']), 'access', "cannot pass $outer: ", 'its groups are not known');
        Program::output(['chmod', 'go+x', $outer]);
        self::assertSame('ok', Doctor::ask("$outer/sets", ['--as', 'www-data'])->about('access')['health']);
    }

    public function testADirectoryWhoseNameIsNoUtf8(): void
    {
        $this->publishAs('root', 'root');
        $other = "{$this->memory->path}/\xFF";
        mkdir($other, 0711);
        rename("{$this->memory->path}/tags", "$other/tags");
        $doctor = Doctor::ask($other, ['--as', 'nobody']);
        $this->assertError($doctor, 'access', 'Permission denied', 'chgrp -R nogroup');
        self::assertCount(1, array_keys(array_column($doctor->findings, 'subject'), 'access'));
    }

    public function testAUserWhoIsNotKnown(): void
    {
        $program = Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $this->memory->path, '--as', 'no-such-user']);
        self::assertSame(64, $program->status);
        self::assertStringContainsString('no-such-user', $program->errors);
    }

    private function publishAs(string $owner, string $group, int $mode = 0711): void
    {
        $this->needRoot();
        $this->memory->publish(SharedMemory::build('tags', ['apple']));
        Program::output(['chown', '-R', "$owner:$group", $this->memory->path]);
        chmod($this->memory->path, $mode);
        chmod("{$this->memory->path}/tags", 02750);
    }

    /** Does what the doctor tells that user to have done; the rest of it is for what comes later. */
    private function obey(string $user, string $commands, string $rest = ''): void
    {
        $doctor = $this->askAs($user);
        $this->assertError($doctor, 'access', 'Permission denied', '');
        self::assertSame($commands . $rest, $doctor->about('access')['remedy']);
        Program::output(['sh', '-c', $commands]);
        self::assertSame('600', sprintf('%o', fileperms("{$this->memory->path}/tags/lock") & 0777), 'the publisher alone can hold it');
    }

    private static function restOf(string $group): string
    {
        return "; and group = \"$group\" in keysieve.toml (keysieved's user must be in it)";
    }

    private function assertReads(string $user): void
    {
        self::assertSame('ok', $this->askAs($user)->about('access')['health']);
    }

    private function askAs(string $user): Doctor
    {
        return Doctor::ask($this->memory->path, ['--as', $user]);
    }
}
