<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Set;
use KeySieve\Tests\Differential\ControlBytes;
use KeySieve\Tests\Support\CoerciveCalls;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;
use function KeySieve\begin_request;

/** A running process follows what is published, also when that happens in the middle of a call. */
final class RefreshTest extends TestCase
{
    public function testNoKeyIsAbsentWhileManyPublicationsPassBy(): void
    {
        SharedMemory::put('busy', range(1, 300));
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('busy');
            $snapshot = get_cfg_var('keysieve.directory') . '/busy.ks';
            $command = [getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'publish', '--directory', get_cfg_var('keysieve.directory'), $snapshot];
            $keys = range(1, 300);
            $seen = [];
            for ($publish = 0; $publish < 40; ++$publish) {
                $publisher = proc_open($command, [1 => ['file', '/dev/null', 'w']], $pipes);
                do {
                    if (in_array(false, $set->mayContainMany($keys), true)) {
                        exit('absent');
                    }
                    $seen[$set->info()->publication] = true;
                } while (proc_get_status($publisher)['running']);
                proc_close($publisher);
            }
            echo count($seen) > 1 ? 'refreshed' : 'stale';
            PHP);
        self::assertSame('refreshed', $script->output);
        self::assertSame('', $script->errors);
    }

    /** Published again in a container: device and inode stay the same, though the files are copies now. */
    public function testASetInTheLowerLayerOfAnOverlayIsFollowed(): void
    {
        SharedMemory::putWithLayer('image', ['apple']);
        [$folder, $upper] = [SharedMemory::folder('image'), SharedMemory::directory() . '/image.upper'];
        array_map(mkdir(...), [$upper, "$upper.work"]);
        $options = "lowerdir=$folder,upperdir=$upper,workdir=$upper.work";
        exec(implode(' ', array_map(escapeshellarg(...), ['mount', '-t', 'overlay', 'overlay', '-o', $options, $folder])) . ' 2>&1', $said, $status);
        if ($status !== 0) {
            self::markTestSkipped('may not mount an overlayfs: ' . implode(' ', $said));
        }
        try {
            $set = new Set('image');
            self::assertFalse($set->mayContain('pear'));
            SharedMemory::addLive('image', 'pear');
            begin_request();
            self::assertTrue($set->mayContain('pear'));
            SharedMemory::publish(SharedMemory::build('image', ['plum']), ['--allow-hidden-adds']);
            begin_request();
            self::assertTrue($set->mayContain('plum'));
            self::assertFalse($set->mayContain('apple'));
            SharedMemory::bypass('image');
            begin_request();
            self::assertSame(Availability::Bypassed, $set->availability());
        } finally {
            exec('umount -l ' . escapeshellarg($folder));
        }
    }

    #[Group('extension')]
    public function testAHandlerThatPublishesAndThrowsLeavesASoundProcess(): void
    {
        SharedMemory::put('thrown', ['apple']);
        $set = new Set('thrown');
        $handler = static function () use ($set): never {
            self::replaceUntilAttached($set, 'thrown');
            throw new \DomainException('from the handler');
        };
        for ($round = 0; $round < 5; ++$round) {
            $call = static fn () => CoerciveCalls::mayContainNull('thrown', $handler);
            self::assertThrows(\DomainException::class, 'from the handler', $call);
            self::assertTrue($set->mayContain('apple'));
            self::assertFalse($set->mayContain('pear'));
        }
        self::assertSame([true], $set->mayContainMany(['apple']));
        self::assertSame(2, self::mappedSnapshots('thrown'), 'the current publication, and the one before until the request ends');
        begin_request();
        self::assertSame(1, self::mappedSnapshots('thrown'));
    }

    #[Group('extension')]
    public function testAKeyThatPublishesWhileItBecomesAStringGetsAnAnswer(): void
    {
        SharedMemory::put('stringable', ['apple']);
        $set = new Set('stringable');
        $key = new class ($set) {
            public function __construct(private readonly Set $set)
            {
            }

            public function __toString(): string
            {
                RefreshTest::replaceUntilAttached($this->set, 'stringable');
                return 'apple';
            }
        };
        self::assertTrue(CoerciveCalls::mayContain('stringable', $key));
    }

    /** Not when the next one begins, which may be much later. */
    #[Group('extension')]
    public function testAWorkerUnmapsWhatWasReplacedWhenTheRequestEnds(): void
    {
        SharedMemory::put('ended', ['apple']);
        $pool = new FpmPool(<<<'PHP'
            (new KeySieve\Set('ended'))->mayContain('apple');
            echo preg_match_all('~/ended/[0-9a-f]{16}\.ks\b~', file_get_contents('/proc/self/maps'));
            PHP, ['pages' => ['pm.max_children' => '1']]);
        self::assertSame('1', $pool->request()->body());
        SharedMemory::publish(SharedMemory::directory() . '/ended.ks');
        self::assertSame('2', $pool->request()->body(), 'no answer waits for that');
        [$worker] = $pool->workers();
        self::assertSoon(static fn (): bool => self::mappedSnapshots('ended', $worker) === 1);
    }

    /** The cycle collector runs destructors in the middle of info(), which makes objects. */
    public function testADestructorMayAttachANewPublicationInTheMiddleOfInfo(): void
    {
        SharedMemory::put('collected', ['apple'], ['--key-profile', 'as it was built']);
        $script = PhpScript::run(<<<'PHP'
            final class Asking
            {
                public static int $ran = 0;
                private self $itself;

                public function __construct(private readonly Set $set)
                {
                    $this->itself = $this;
                }

                public function __destruct()
                {
                    ++self::$ran;
                    $directory = get_cfg_var('keysieve.directory');
                    $publish = [getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'publish', '--directory', $directory, "$directory/collected.ks"];
                    proc_close(proc_open($publish, [1 => ['file', '/dev/null', 'w']], $pipes));
                    $this->set->mayContain('pear');
                }
            }
            $set = new Set('collected');
            $hits = 0;
            // The collector runs when it has met a number of values. From one round to the next, info() makes the one
            // that is too many at an earlier moment.
            for ($room = 8; $room > 0; --$room) {
                gc_collect_cycles();
                $publication = $set->info()->publication;
                new Asking($set);
                $kept = [];
                while (gc_status()['roots'] < gc_status()['threshold'] - $room) {
                    $kept[] = $array = [$room];
                    unset($array);
                }
                $ran = Asking::$ran;
                $info = $set->info();
                $hits += Asking::$ran - $ran;
                if (!in_array($info->publication, [$publication, $publication + 1], true) || $info->addedKeys !== 0 || $info->keyProfile !== 'as it was built') {
                    echo json_encode([$publication, $info->publication, $info->addedKeys, $info->keyProfile]);
                }
            }
            echo $hits > 1 ? 'hit' : 'missed';
            PHP);
        self::assertSame('hit', $script->output, "status {$script->status} {$script->errors}");
    }

    /** Its numbers begin again at 1, as those of the page before did. */
    public function testNothingIsAbsentWhileAPublicationOfAnotherControlPageCannotBeAttached(): void
    {
        $set = self::attached('wiped');
        $page = fopen(SharedMemory::folder('wiped') . '/control', 'r+');
        fseek($page, 192); // last_confirmed
        fwrite($page, pack('P', 1_000));
        self::assertSame(1_000, $set->info()->lastConfirmedAt?->getTimestamp());
        self::removeFolder('wiped');
        self::assertSame([true, false], self::answers($set), 'without a control page nothing can be published');
        self::makeControlPage('wiped');
        self::assertSame([true, false], self::answers($set), 'nothing is published yet');
        self::assertNull($set->info()->lastConfirmedAt, 'that of the page that is there');
        SharedMemory::put('wiped', ['pear']);
        SharedMemory::forge(SharedMemory::folder('wiped') . '/0000000000000001.ks', format: 2);
        self::assertSame([true, true], self::answers($set));
        self::assertSame(Availability::Incompatible, $set->availability());
        self::removeFolder('wiped');
        self::assertSame([true, true], self::answers($set), 'it was there');
        self::makeControlPage('wiped');
        self::assertSame([true, true], self::answers($set));
        SharedMemory::put('wiped', ['pear']);
        self::assertSame([false, true], self::answers($set));
    }

    /** A copy has the same instance and numbers, but other files, which get all later keys. */
    public function testACopyThatComesBackAfterAnotherControlPageIsAttached(): void
    {
        $set = self::attached('restored');
        $folder = SharedMemory::folder('restored');
        Program::output(['cp', '-a', $folder, "$folder-copy"]);
        self::removeFolder('restored');
        self::makeControlPage('restored');
        self::assertSame([true, false], self::answers($set));
        self::removeFolder('restored');
        rename("$folder-copy", $folder);
        SharedMemory::addLive('restored', 'pear');
        self::assertSame([true, true], self::answers($set));
    }

    /** As in a pool of php-fpm with open_basedir, where PHP remembers for two minutes where a link led. */
    public function testAFolderThatWasALinkToNowhereIsReadAgainUnderOpenBasedir(): void
    {
        SharedMemory::put('linked', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $directory = get_cfg_var('keysieve.directory');
            $set = new Set('linked');
            $ask = function () use ($set): bool {
                KeySieve\begin_request();
                return $set->mayContain('pear');
            };
            $answers = [$ask()];
            ini_set('open_basedir', $directory);
            exec(getenv('KEYSIEVE_BIN_DIR') . "/keysieve publish --directory $directory $directory/linked.ks");
            exec("mv $directory/linked $directory/linked.away; ln -s linked.none $directory/linked"); // PHP's own functions would make it forget
            $answers[] = $ask();
            exec("rm $directory/linked; mv $directory/linked.away $directory/linked");
            echo json_encode([...$answers, $ask()]);
            PHP);
        self::assertSame('[false,true,false]', $script->output, $script->errors);
    }

    /** Publishes the same keys again and asks until this process has attached the new publication. */
    public static function replaceUntilAttached(Set $set, string $name): void
    {
        $before = $set->info()->publication;
        SharedMemory::publish(SharedMemory::directory() . "/$name.ks");
        self::assertSoon(static fn (): bool => $set->info()->publication === $before + 1);
    }

    /** A set with the key "apple", of which this process has attached the first publication. */
    private static function attached(string $name): Set
    {
        SharedMemory::putWithLayer($name, ['apple']);
        $set = new Set($name);
        self::assertSame([true, false], self::answers($set));
        return $set;
    }

    /** @return bool[] for "apple" and "pear", as at the start of a request */
    private static function answers(Set $set): array
    {
        begin_request();
        return $set->mayContainMany(['apple', 'pear']);
    }

    private static function removeFolder(string $set): void
    {
        Program::output(['rm', '-r', SharedMemory::folder($set)]);
    }

    /** As a publisher leaves it that dies before it publishes. */
    private static function makeControlPage(string $set): void
    {
        mkdir(SharedMemory::folder($set), 0750);
        file_put_contents(SharedMemory::folder($set) . '/control', ControlBytes::of(random_int(1, PHP_INT_MAX), 0)->bytes);
    }

    private static function mappedSnapshots(string $set, int|string $process = 'self'): int
    {
        return preg_match_all('~/' . $set . '/[0-9a-f]{16}\.ks\b~', file_get_contents("/proc/$process/maps"));
    }
}
