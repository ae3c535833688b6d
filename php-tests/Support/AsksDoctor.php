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

    /**
     * A command that runs the doctor where other files lie in those places, for nobody else.
     *
     * @param array<string, string> $mounts files or folders by the place that they take
     * @return string[]
     */
    private static function where(array $mounts): array
    {
        $commands = '';
        foreach ($mounts as $place => $source) {
            $commands .= 'mount --bind ' . escapeshellarg($source) . ' ' . escapeshellarg($place) . ' && ';
        }
        return ['unshare', '--mount', 'sh', '-c', $commands . 'exec "$@"', 'sh'];
    }

    /** A file of that content, in the directory of the sets. */
    private function file(string $content): string
    {
        $path = $this->memory->path . '/' . bin2hex(random_bytes(6));
        file_put_contents($path, $content);
        return $path;
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
