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

/** bin/console keysieve:build: builds the services that implement SetSource, all or some. */
#[AsCommand('keysieve:build', 'Builds the sets that the application defines')]
final class BuildSets extends Command
{
    /** @param iterable<SetSource> $sources */
    public function __construct(private readonly iterable $sources, private readonly string $folder)
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
        $shrink = filter_var($options['max-shrink'], FILTER_VALIDATE_FLOAT);
        $progress = new ProgressBar($output);
        $build = new SourceBuild($shrink === false ? -1 : $shrink, $progress->setProgress(...));
        return $build->all($this->sources, $names, $options['to'] ?? $this->folder, $output->writeln(...)) ? self::SUCCESS : self::FAILURE;
    }
}
