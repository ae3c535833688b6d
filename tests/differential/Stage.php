<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;

/** What all stories share: the clock, the workers, and sets that were built, since building takes longer than a story. */
final class Stage
{
    /** A set that is ready all the time. */
    public const COMPANION = 'companion';
    public const NOBODY = 65534;

    private const STORIES_PER_BUILD = 50;
    private const SETS_PER_BUILD = 3;

    /** Whether this process may change owners; then the workers are another user's. */
    public readonly bool $isRoot;
    public readonly Clock $clock;
    public readonly Workers $workers;
    /** @var string[] */
    private readonly array $kinds;
    /** @var list<BuiltSet> */
    private array $built = [];
    private ?int $buildNumber = null;

    /** @param string $work a folder for files */
    public function __construct(private readonly string $work)
    {
        $this->isRoot = fileowner($work) === 0;
        $this->clock = new Clock();
        $this->workers = new Workers($this->clock, $this->isRoot ? self::NOBODY : 0);
        $this->kinds = SharedMemory::kinds();
        SharedMemory::putWithLayer(self::COMPANION, ['apple', '1', 'key 1', 'key 2', 'key 3']);
        Program::output(['chmod', '-R', 'a+rX', SharedMemory::folder(self::COMPANION)]);
    }

    /** @return list<BuiltSet> for a story */
    public function builtSets(int $seed): array
    {
        $number = intdiv($seed, self::STORIES_PER_BUILD);
        if ($number !== $this->buildNumber) {
            $this->buildNumber = $number;
            $random = new Random("sets $number");
            $this->built = [];
            for ($count = 0; $count < self::SETS_PER_BUILD; ++$count) {
                $this->built[] = BuiltSet::draw($random, $this->kinds, $this->work);
            }
        }
        return $this->built;
    }
}
