<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Set;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\FastCgiRequest;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Nginx;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

/** The false-positive rate of a page in production: counted in two workers of php-fpm, read as Prometheus does. */
final class CountedSetTest extends TestCase
{
    private const PRODUCTS = 500;
    private const ASKED = 200;

    private static ?Examples $examples;
    private static ?FpmPool $pages;

    public static function setUpBeforeClass(): void
    {
        self::$examples = new Examples();
        self::$examples->output('setup.php');
        self::$examples->query('WITH RECURSIVE numbers(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers WHERE id < '
            . self::PRODUCTS . ") INSERT OR REPLACE INTO products SELECT id, 'Product ' || id FROM numbers");
        $others = self::keys(20_000, 'other');
        $products = [...range(1, self::PRODUCTS), ...$others];
        SharedMemory::put('products', $products, ['--fpr', '0.1', '--shard-size', '1KiB']);
    }

    public static function tearDownAfterClass(): void
    {
        self::$pages = null;
        self::$examples = null;
    }

    protected function setUp(): void
    {
        self::$pages = self::$examples->pool(); // and with it a new APCu
    }

    public function testFalsePositivesOfAllWorkersAreCountedOneByOne(): void
    {
        $strange = range(10_001, 10_000 + self::ASKED);
        $maybe = count((new Set('products'))->candidates($strange));
        self::assertGreaterThan(0, $maybe);
        self::assertCount(2, $this->askBothWorkers([...$strange, ...range(1, 50)]));
        self::assertSame([
            'absent' => self::ASKED - $maybe,
            'maybe' => $maybe + 50,
            'unavailable' => 0,
            'found' => 50,
            'false_positive' => $maybe,
        ], $this->counts());
    }

    public function testAnUnavailableSetHasNoFalsePositives(): void
    {
        SharedMemory::bypass('products');
        try {
            self::assertSame("no such product\n", $this->ask(20_000));
            self::assertSame("Product 7\n", $this->ask(7));
        } finally {
            SharedMemory::bypass('products', '--off');
        }
        self::assertSame(
            ['absent' => 0, 'maybe' => 0, 'unavailable' => 2, 'found' => 0, 'false_positive' => 0],
            $this->counts(),
        );
    }

    #[Group('frameworks')]
    public function testPromtoolAcceptsTheMetrics(): void
    {
        $this->ask(7);
        $file = tempnam(sys_get_temp_dir(), 'keysieve-metrics-');
        file_put_contents($file, $this->metrics());
        $lint = Program::run(['sh', '-c', 'promtool check metrics < "$0"', $file]);
        self::assertSame([0, '', ''], [$lint->status, $lint->output, $lint->errors]);
    }

    public function testNginxShowsTheMetricsToThisHostAlone(): void
    {
        $this->ask(7);
        self::assertSame(1, preg_match('/^```nginx\n(.*?)^```/ms', file_get_contents(Examples::path('README.md')), $found));
        $nginx = new Nginx(self::$pages, strtr($found[1], [
            'fastcgi_params' => '/etc/nginx/fastcgi_params',
            '/srv/shop/fpr/metrics.php' => Examples::path('fpr/metrics.php'),
            '/run/php/php-fpm.sock' => self::$pages->socket,
        ]));
        self::assertStringContainsString('keysieve_php_maybe_total{set="products"} 1', $this->get($nginx, '127.0.0.1'));
        self::assertStringContainsString('403 Forbidden', $this->get($nginx, '127.0.0.2'));
    }

    public function testWithoutApcuThePageAnswersAndTheMetricsSayWhyTheyAreMissing(): void
    {
        self::$pages = self::$examples->pool(['apc.enabled' => '0']);
        self::assertSame("Product 7\n", $this->ask(7));
        $this->expectExceptionMessage('Status: 503 Service Unavailable');
        $this->expectExceptionMessage('APCu is not installed, or switched off');
        $this->metrics();
    }

    public function testAFunctionGetsTheCountsInsteadOfApcu(): void
    {
        $counted = self::$examples->code(<<<'PHP'
            require FOLDER . '/fpr/CountedSet.php';
            $counts = [];
            $products = new KeySieve\CountedSet('products', add: function (string $set, string $counter, int $count) {
                $GLOBALS['counts'][] = "$set $counter $count";
            });
            $other = new KeySieve\CountedSet('products');               // counts nothing twice
            $candidates = $products->candidates(range(1, 100));
            $products->confirm($candidates, range(1, 100));
            $products->flush();
            $products->flush();
            $products->lookup(5, fn (int $id) => "row $id");
            unset($products);
            try {
                $other->lookup(5, fn () => throw new RuntimeException('the store is unreachable'));
            } catch (RuntimeException $error) {
                $counts[] = $error->getMessage();
            }
            echo implode("\n", $counts);
            PHP);
        self::assertSame([
            'products found 100',
            'products maybe 100',
            'products found 1',
            'products maybe 1',
            'the store is unreachable',
        ], explode("\n", $counted));
    }

    public function testABatchCountsKeysAndNotRows(): void
    {
        $counted = self::$examples->code(<<<'PHP'
            require FOLDER . '/fpr/CountedSet.php';
            $products = new KeySieve\CountedSet('products', add: function (string $set, string $counter, int $count) {
                echo "$counter $count\n";
            });
            $strange = current($products->candidates(range(10_001, 10_200)));
            $candidates = $products->candidates(['5', 5, '5', '6', $strange]);
            $products->confirm($candidates, ['6', '5', 5, '7']); // two rows of 5, and one that nobody asked for
            $products->confirm([], []);
            PHP);
        self::assertStringStartsWith("found 4\nfalse_positive 1\nmaybe ", $counted);
    }

    private function ask(int $id): string
    {
        return self::$pages->request("page=fpr/product.php&id=$id")->body();
    }

    /**
     * Asks for products in pairs, so that both workers have something to do.
     *
     * @param int[] $ids
     * @return string[] the processes that have answered
     */
    private function askBothWorkers(array $ids): array
    {
        $workers = [];
        foreach (array_chunk($ids, 2) as $pair) {
            $requests = array_map(
                static fn (int $id): FastCgiRequest => self::$pages->request("page=fpr/product.php&worker&id=$id"),
                $pair,
            );
            foreach ($requests as $i => $request) {
                [$answer, $worker] = explode("\n", $request->body());
                self::assertSame($pair[$i] > self::PRODUCTS ? 'no such product' : "Product {$pair[$i]}", $answer);
                $workers[$worker] = $worker;
            }
        }
        return array_values($workers);
    }

    /** The metrics as they are answered to that address of this host. */
    private function get(Nginx $nginx, string $from): string
    {
        $context = ['socket' => ['bindto' => "$from:0"], 'http' => ['ignore_errors' => true]];
        return file_get_contents("{$nginx->url}fpr/metrics.php", context: stream_context_create($context));
    }

    private function metrics(): string
    {
        return self::$pages->request('page=fpr/metrics.php')->body();
    }

    /** @return array<string, int> of the set products, by counter */
    private function counts(): array
    {
        preg_match_all('/^keysieve_php_(\w+)_total{set="products"} (\d+)$/m', $this->metrics(), $found);
        return array_map(intval(...), array_combine($found[1], $found[2]));
    }
}
