<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\TestCase;
use KeySieve\Tests\Support\VerifyingPage;
use PHPUnit\Framework\Attributes\Group;

/** Pools of php-fpm that may not see or do all: in a chroot, under open_basedir, under several users. */
#[Group('faults')]
final class FpmConfinementTest extends TestCase
{
    private const KEYS = 1_000;
    private const REQUESTS = 20;

    protected function setUp(): void
    {
        self::needsRoot();
    }

    /** The owner is known by a name, which cannot be looked up in there. */
    public function testAWorkerInAChrootAnswers(): void
    {
        $this->publish('chrooted', ['--group', 'www-data']);
        foreach ([SharedMemory::folder('chrooted'), ...glob(SharedMemory::folder('chrooted') . '/*')] as $path) {
            chown($path, posix_getpwnam('daemon')['uid']);
        }
        $pool = new FpmPool(
            VerifyingPage::script('chrooted', self::KEYS),
            ['pages' => ['chroot' => sys_get_temp_dir(), 'user' => 'www-data', 'php_admin_value[error_log]' => null]],
            settings: ['keysieve.owner' => 'daemon'],
        );
        $this->assertAllRight($pool, 'chroot');
    }

    public function testAWorkerUnderOpenBasedirAnswers(): void
    {
        $this->publish('based');
        $script = 'if (@file_get_contents(' . var_export(SharedMemory::folder('based') . '/control', true) . ') !== false) {'
            . "exit('sees the files'); }\n" . VerifyingPage::script('based', self::KEYS);
        $pool = new FpmPool($script, ['pages' => ['php_admin_value[open_basedir]' => '{folder}']]);
        $this->assertAllRight($pool, 'open_basedir');
    }

    /** One master, three pools: one runs as the set's owner, one is in its group, one is neither and is told nothing. */
    public function testOnlyPoolsOfTheOwnerAndItsGroupReadTheSet(): void
    {
        $this->publish('shared', ['--group', 'www-data']);
        $pool = new FpmPool(VerifyingPage::script('shared', self::KEYS), [
            'owner' => [],
            'member' => ['user' => 'daemon', 'group' => 'www-data'],
            'strange' => ['user' => 'nobody', 'group' => 'nogroup'],
        ]);
        $this->assertAllRight($pool, 'pool of the owner', 'owner');
        $this->assertAllRight($pool, 'pool of the group', 'member');
        $strange = static fn () => $pool->request(pool: 'strange')->body();
        self::assertThrows(\RuntimeException::class, 'shared is Missing', $strange);
        self::assertStringContainsString('Permission denied', file_get_contents($pool->log));
    }

    /** @param string[] $options of `keysieve publish` */
    private function publish(string $set, array $options = []): void
    {
        SharedMemory::publish(SharedMemory::build($set, self::keys(self::KEYS)), $options);
    }

    private function assertAllRight(FpmPool $pool, string $what, ?string $name = null): void
    {
        for ($i = 0; $i < self::REQUESTS; ++$i) {
            self::assertSame('right', $pool->request(pool: $name)->body(), file_get_contents($pool->log));
        }
        Soak::report("php-fpm, $what: " . self::REQUESTS . ' requests: all right');
    }
}
