<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Build\SetSource;
use KeySieve\Build\SourceBuild;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Helper\ProgressBar;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Contracts\Service\ServiceProviderInterface;

/** bin/console keysieve:build: builds the services that implement SetSource, all or some. */
#[AsCommand('keysieve:build', 'Builds the sets that the application defines')]
final class BuildSets extends Command
{
    /** @param ServiceProviderInterface<SetSource> $sources */
    public function __construct(private readonly ServiceProviderInterface $sources, private readonly string $folder)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('sets', InputArgument::IS_ARRAY, 'their names [all]');
        $this->addOption('to', null, InputOption::VALUE_REQUIRED, 'a folder for SET.ks [var/sets], directory:FOLDER to publish there, or the URL of a store, for which keysieve must be installed');
        $this->addOption('max-shrink', null, InputOption::VALUE_REQUIRED, 'the share of its keys that a set may lose', '0.2');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        /** @var list<string> $names */
        $names = $input->getArgument('sets');
        /** @var array{to: ?string, 'max-shrink': string} $options */
        $options = $input->getOptions();
        $progress = new ProgressBar($output);
        $build = new SourceBuild(SourceBuild::shrink($options['max-shrink']), $output->isDecorated() ? $progress->setProgress(...) : null);
        $ids = array_keys($this->sources->getProvidedServices());
        $sources = array_map(fn (string $id): \Closure => fn (): SetSource => $this->sources->get($id), array_combine($ids, $ids));
        $say = static function (string $line) use ($progress, $output): void {
            $progress->clear();
            $output->writeln($line);
        };
        return $build->all($sources, $names, $options['to'] ?? $this->folder, $say) ? self::SUCCESS : self::FAILURE;
    }
}
