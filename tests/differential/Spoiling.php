<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Program;

/** Takes files from their place, puts something else there, or changes who may do what with them; and mends it again. */
final class Spoiling
{
    private const MODES = [0777, 0775, 0757, 0755, 0711, 0750, 0700, 0666, 0660, 0644, 0640, 0622, 0600, 0444, 0];

    /** What mends the last one; null: nothing is spoilt. */
    private ?\Closure $mend = null;

    /** @param bool $isConfined by open_basedir, by which PHP refuses what lies behind a file that is no folder */
    public function __construct(
        private readonly Random $random,
        private readonly Stage $stage,
        private readonly string $folder,
        private readonly bool $isConfined,
    ) {
    }

    public function isSpoilt(): bool
    {
        return $this->mend !== null;
    }

    /** After what is there was removed. */
    public function forget(): void
    {
        $this->mend = null;
        Program::succeed(['rm', '-rf', $this->away('')]);
    }

    public function mend(): string
    {
        ($this->mend)();
        $this->mend = null;
        return 'mend it';
    }

    /** @param string $name of a file in the folder; empty: the folder itself */
    public function spoil(string $name): string
    {
        clearstatcache(true);
        $path = rtrim("$this->folder/$name", '/');
        $shown = $name === '' ? 'the folder' : $name;
        $how = $this->random->of([
            'mode', 'mode', 'missing', 'link', 'directory',
            ...$this->stage->isRoot ? ['owner', 'owner'] : [],
            ...$this->isConfined && $name === '' ? [] : ['file', 'pipe'],
        ]);
        switch ($how) {
            case 'mode':
                $mode = $this->random->of(self::MODES) | ($this->stage->isRoot ? 0 : 0700); // root may write all the same
                $old = fileperms($path) & 07777;
                chmod($path, $mode);
                $this->mend = static fn () => chmod($path, $old);
                return sprintf('%s has mode %04o', $shown, $mode);
            case 'owner':
                $owner = $this->random->of([Stage::NOBODY, 54321, 1]);
                chown($path, $owner);
                $this->mend = static fn () => chown($path, 0);
                return "$shown belongs to $owner";
            default:
                $away = $this->away($name);
                rename($path, $away);
                match ($how) {
                    'missing' => null,
                    // If the control page is a link to nothing, the package does not know whether there is one, and answers maybe.
                    'link' => symlink($name === 'control' || $this->random->chance(0.8) ? $away : "$path.none", $path),
                    'directory' => mkdir($path),
                    'file' => file_put_contents($path, $this->random->bytes($this->random->of([0, 64, 4096, 5000]))),
                    'pipe' => Program::succeed(['mkfifo', $path]),
                };
                $this->mend = static function () use ($path, $away): void {
                    Program::succeed(['rm', '-rf', $path]);
                    rename($away, $path);
                };
                return $how === 'missing' ? "$shown is away" : "$shown is a $how";
        }
    }

    private function away(string $name): string
    {
        return $name === '' ? "$this->folder.away" : "$this->folder/$name.away";
    }
}
