<?php

declare(strict_types=1);

namespace KeySieve\Tests\Sources;

use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\SourceTestCase;

/** The package in php-fpm, where each request begins without its classes. */
final class PhpFpmTest extends SourceTestCase
{
    public function testARequestThatAsksOneSetLoadsHalfOfThePackageAtMost(): void
    {
        foreach (SharedMemory::kinds() as $kind) {
            $this->buildSet($kind, '--kind', $kind, $this->list('keys', ['apple']));
        }
        $pool = $this->pool('$set = new KeySieve\Set($_GET["kind"]);
            echo json_encode([$set->mayContainMany(["apple", "pear"]), $set->info()->kind, function_exists("pcntl_signal") ? 0 : $loaded()]);');
        foreach (SharedMemory::kinds() as $kind) {
            $answer = $pool->request("kind=$kind")->body();
            [$found, $asked, $files] = json_decode($answer, flags: JSON_THROW_ON_ERROR);
            self::assertSame([[true, false], $kind], [$found, $asked], $answer);
            self::assertLessThan(30, $files);
        }
    }

    public function testMapsAndSeenSetsHaveTheirClassesToo(): void
    {
        file_put_contents("$this->folder/tiers", "apple\t3\n");
        $this->buildSet('tiers', '--values', "$this->folder/tiers");
        $pool = $this->pool('echo json_encode([(new KeySieve\Map("tiers"))->get("apple", fn () => null), (new KeySieve\SeenSet("clicks"))->availability()->name]);');
        self::assertSame('[3,"Missing"]', $pool->request()->body());
    }

    private function buildSet(string $name, string ...$options): void
    {
        Program::keysieve('build', '--set', $name, '--fpr', '0.0001', ...$options, ...['-o', "$this->folder/$name.ks"]);
    }

    private function pool(string $script): FpmPool
    {
        $bootstrap = getenv('KEYSIEVE_PACKAGE') . '/bootstrap.php';
        return new FpmPool("\$before = count(get_included_files());
            \$loaded = fn (): int => count(get_included_files()) - \$before;
            require '$bootstrap';
            KeySieve\\Reader\\Settings::use('files:$this->folder');
            $script", isBare: true);
    }
}
