<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** For tests of what `keysieve doctor` finds: a directory of their own, and what is asked of each finding. */
trait AsksDoctor
{
    private Tmpfs $memory;

    protected function setUp(): void
    {
        $this->memory = new Tmpfs();
    }

    protected function tearDown(): void
    {
        unset($this->memory);
    }

    private function needRoot(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('only root can become another user, or mount');
        }
    }

    private function assertError(Doctor $doctor, string $subject, string $seen, string $remedy): void
    {
        $finding = $doctor->about($subject);
        self::assertSame('error', $finding['health'], (string) $doctor);
        self::assertStringContainsString($seen, $finding['seen']);
        self::assertStringContainsString($remedy, $finding['remedy']);
        self::assertSame(1, $doctor->status);
    }
}
