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
    public function __construct(private readonly iterable $sources)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('sets', InputArgument::IS_ARRAY, 'their names [all]');
        $this->addOption('to', null, InputOption::VALUE_REQUIRED, 'a folder for SET.ks, or the URL of a store, for which keysieve must be installed', 'var/sets');
        $this->addOption('max-shrink', null, InputOption::VALUE_REQUIRED, 'the share of its keys that a set may lose', '0.2');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $progress = new ProgressBar($output);
        $build = new SourceBuild((float) $input->getOption('max-shrink'), $progress->setProgress(...));
        $names = (array) $input->getArgument('sets');
        return $build->all($this->sources, $names, (string) $input->getOption('to'), $output->writeln(...)) ? self::SUCCESS : self::FAILURE;
    }
}
