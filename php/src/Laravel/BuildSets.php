<?php

declare(strict_types=1);

namespace KeySieve\Laravel;

use Illuminate\Console\Command;
use Illuminate\Contracts\Config\Repository;
use KeySieve\Build\SetSource;
use KeySieve\Build\SourceBuild;

/** php artisan keysieve:build: builds the classes in `sources` of config/keysieve.php, all or some. */
final class BuildSets extends Command
{
    protected $signature = 'keysieve:build {sets?* : their names [all]}
        {--to= : a folder for SET.ks [storage/sets], directory:FOLDER to publish there, or the URL of a store, for which keysieve must be installed}
        {--max-shrink=0.2 : the share of its keys that a set may lose}';
    protected $description = 'Builds the sets that the application defines';

    public function handle(Repository $settings): int
    {
        /** @var list<class-string<SetSource>> $classes */
        $classes = $settings->get('keysieve.sources');
        /** @var array{to: ?string, 'max-shrink': string} $options */
        $options = $this->options();
        /** @var list<string> $names */
        $names = $this->argument('sets');
        $progress = $this->output->createProgressBar();
        $build = new SourceBuild(SourceBuild::shrink($options['max-shrink']), $this->output->isDecorated() ? $progress->setProgress(...) : null);
        $sources = array_map(fn (string $class): \Closure => fn (): SetSource => $this->laravel->make($class), array_combine($classes, $classes));
        $say = function (string $line) use ($progress): void {
            $progress->clear();
            $this->line($line);
        };
        $to = $options['to'] ?? $this->laravel->storagePath('sets');
        return $build->all($sources, $names, $to, $say) ? self::SUCCESS : self::FAILURE;
    }
}
