<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** What happens to one published set, step by step. */
final class SetHistory
{
    private const LATE = 60; // seconds
    private const BYPASS_BITS = [
        'damaged' => ControlBytes::DAMAGED,
        'store_bypass_until' => ControlBytes::BYPASSED_IN_STORE,
        'bypass_until' => ControlBytes::BYPASSED,
    ];

    public readonly Truth $truth;
    /** Whether readers that go on asking without a new request see the last step too. */
    public bool $isSeenAtOnce = false;
    /** The profile of the snapshot that was published last. */
    public string $keyProfile = '';

    private readonly PublishedFolder $folder;
    private readonly Spoiling $spoiling;
    private readonly Contents $contents;
    private int $instance = 0;
    private int $number = 0;
    private int $bypassed = 0; // bits of the word
    private int $validUntil = 0;
    private bool $hasLayer = false;
    private bool $hasPage = false; // a control page that says what it should
    private bool $isSound = true; // everything could be read until now: the extension waits a second before it tries again

    /**
     * @param list<BuiltSet> $builtSets
     * @param bool           $isConfined whether the package reads under open_basedir
     */
    public function __construct(
        private readonly Random $random,
        private readonly Stage $stage,
        string $path,
        array $builtSets,
        bool $isConfined,
    ) {
        $this->truth = new Truth();
        $this->folder = new PublishedFolder($path);
        $this->spoiling = new Spoiling($random, $stage, $path, $isConfined);
        $this->contents = new Contents($random, basename($path), $builtSets);
    }

    /** @return string what was done */
    public function step(): string
    {
        $this->isSeenAtOnce = false;
        $weights = ['publishFresh' => 15, 'nothing' => 5, 'wait' => 5];
        if ($this->spoiling->isSpoilt()) {
            $weights += ['mend' => 15];
        } elseif ($this->hasPage) {
            $weights += ['publishNext' => 25, 'spoil' => 10, 'bypass' => 7, 'lift' => 5, 'note' => 3, 'store' => 4, 'copy' => 4];
            $weights += ['newPage' => 4, 'wipe' => 4] + ($this->hasLayer ? ['add' => 15] : []);
        }
        $what = $this->{$this->random->weighted($weights)}();
        $this->isSeenAtOnce = $this->isSeenAtOnce && $this->isSound;
        return $what;
    }

    /** A page of another instance, mostly in a folder that is new too. */
    public function publishFresh(): string
    {
        $what = 'with a new control page, ';
        if ($this->spoiling->isSpoilt() || $this->random->chance(0.8)) {
            $this->wipe();
            $what = 'in a new folder, ';
        }
        $before = $this->truth->certain;
        $this->instance = $this->anyNumber();
        $this->number = $this->random->chance(0.8) ? 1 : $this->random->between(1, (1 << 60) - 1);
        $this->bypassed = 0;
        $what .= $this->publish();
        $control = ControlBytes::of($this->instance, $this->number);
        $this->hasPage = $this->random->chance(0.95);
        if (!$this->hasPage) {
            $what .= '; control page: ' . $control->damage($this->random);
            $control = $this->random->chance(0.8) ? $control->seal() : $control;
            $this->knowNothing();
        }
        $this->folder->write('control', $control->bytes);
        return $what . $this->perhapsSpoilt($before);
    }

    private function publishNext(): string
    {
        $before = $this->truth->certain;
        $this->number += 1;
        $what = $this->publish();
        $this->folder->store(current: $this->number | $this->bypassed);
        $this->isSeenAtOnce = true;
        return $what . $this->perhapsSpoilt($before);
    }

    /** The files of a publication. */
    private function publish(): string
    {
        $random = $this->random;
        $content = $this->contents->draw($this->stage->clock->now());
        $layer = $random->chance(0.6) ? 1 + $random->size(3) : 0;
        $live = LiveBytes::of($this->instance, $this->number, $content->snapshot->bytesOf('seed'), $layer);
        $live->put('generation', $random->size(1_000_000))->put('published_at', $this->stage->clock->now() - $random->size(1_000))->seal();
        $what = "publish $this->number: $content->description" . ($layer === 0 ? '' : ', live layer');
        if ($random->chance(0.05)) {
            $what .= ', live page: ' . $live->damage($random);
            $live = $random->chance(0.8) ? $live->seal() : $live;
            $content = $content->unknown('');
        }
        foreach (['live' => $live->bytes, 'ks' => $content->snapshot->bytes] as $ending => $bytes) {
            $name = PublishedFolder::fileName($this->number, $ending);
            $ending === $content->missing ? $this->folder->remove($name) : $this->folder->write($name, $bytes);
        }
        $this->truth->publish($content);
        $this->isSound = $this->isSound && $content->isKnown && $content->isReadable;
        $this->hasLayer = $layer !== 0 && $content->isKnown && $content->isReadable;
        [$this->keyProfile, $this->validUntil] = [$content->snapshot->text('key_profile'), $content->validUntil];
        return $what;
    }

    /**
     * If the page is gone, whatever has answered goes on.
     *
     * @param list<string> $before keys that were certain before
     */
    private function perhapsSpoilt(array $before): string
    {
        if (!$this->hasPage || $this->random->chance(0.85)) {
            return '';
        }
        $what = '; ' . $this->spoil();
        if ($this->folder->read('control') === null) {
            $this->truth->doubt($before);
        }
        return $what;
    }

    private function spoil(): string
    {
        $names = ['', 'control', PublishedFolder::fileName($this->number, 'ks'), PublishedFolder::fileName($this->number, 'live')];
        $there = array_filter($names, fn (string $name): bool => $name === '' || $this->folder->read($name) !== null);
        $this->truth->absent = [];
        $this->hasLayer = $this->isSound = false;
        return $this->spoiling->spoil($this->random->of(array_values($there)));
    }

    private function mend(): string
    {
        return $this->spoiling->mend();
    }

    private function add(): string
    {
        $keys = (new Arguments($this->random))->keys(1 + $this->random->size(30));
        $this->folder->add($this->number, ...$keys);
        $this->truth->add($keys);
        $this->isSeenAtOnce = true;
        return 'add ' . count($keys) . ' keys';
    }

    private function bypass(): string
    {
        $name = $this->random->of(array_keys(self::BYPASS_BITS));
        $this->isSeenAtOnce = ($this->bypassed & self::BYPASS_BITS[$name]) === 0;
        $this->bypassed |= self::BYPASS_BITS[$name];
        $until = $this->random->of([0, 1, $this->stage->clock->now() + $this->random->between(-5, self::LATE)]);
        if ($name !== 'damaged') {
            $this->folder->store(...[$name => $until]);
        }
        $this->folder->store(current: $this->number | $this->bypassed);
        return "bypass, $name: $until";
    }

    private function lift(): string
    {
        $this->bypassed = 0;
        $this->folder->store(current: $this->number);
        $this->isSeenAtOnce = true;
        return 'lift all bypasses';
    }

    private function note(): string
    {
        $moment = $this->stage->clock->now() - $this->random->size(1_000);
        $this->folder->store(last_confirmed: $moment);
        return "confirmed at $moment";
    }

    /** What no loader stores. But the number of the current publication never becomes 0 again. */
    private function store(): string
    {
        $field = $this->random->of(['current', 'bypass_until', 'store_bypass_until', 'last_confirmed']);
        $values = [1, -1, max(1, $this->number - 1), $this->number, $this->number + 1, PHP_INT_MAX, 1 << 60, $this->anyNumber()];
        $value = $this->random->of([...$values, ...$field === 'current' ? [] : [0]]);
        $this->folder->store(...[$field => $value]);
        $this->knowNothing();
        $this->hasPage = false;
        return "store $field = $value";
    }

    private function wait(): string
    {
        $left = $this->validUntil - $this->stage->clock->now() + $this->random->between(-1, 1);
        $seconds = $left > 0 && $left < 100_000 && $this->random->chance(0.7) ? $left : 1 + $this->random->size(self::LATE);
        $this->stage->clock->advance($seconds);
        return "wait $seconds s";
    }

    private function nothing(): string
    {
        $this->isSeenAtOnce = true;
        return 'do nothing';
    }

    private function wipe(): string
    {
        $this->folder->wipe();
        $this->spoiling->forget();
        $this->hasPage = false;
        return 'wipe the folder';
    }

    /** Another file with the same instance and numbers. */
    private function copy(): string
    {
        $this->folder->write('control', $this->folder->read('control'));
        return 'replace the control page by a copy';
    }

    private function newPage(): string
    {
        $this->instance = $this->anyNumber();
        $this->folder->write('control', ControlBytes::of($this->instance, 0)->bytes);
        $this->hasPage = false;
        return 'replace the control page by one with nothing published';
    }

    private function knowNothing(): void
    {
        $this->truth->forget();
        $this->hasLayer = $this->isSound = false;
    }

    private function anyNumber(): int
    {
        return unpack('P', $this->random->bytes(8))[1];
    }
}
