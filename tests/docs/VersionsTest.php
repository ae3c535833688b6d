<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Tests\Support\Folder;
use PHPUnit\Framework\TestCase;

/** tools/docs keeps the sites of released versions beside this one, and every page leads to all of them. */
final class VersionsTest extends TestCase
{
    private const SITE = 'build/site';
    private const PAGE = '<h1>%s</h1><footer><span class="versions"></span></footer>';
    // What is tagged brings its own tools/docs. This one builds no programs.
    private const BUILDER = <<<'BASH'
        #!/bin/sh
        cd "$(dirname "$0")/.." && mkdir -p build/site/docs && cd build/site
        for page in index docs/both docs/removed; do cp ../../page "$page.html"; done
        BASH;

    private Folder $repository;

    protected function setUp(): void
    {
        $this->repository = new Folder('versions');
        $this->git('init --quiet');
        $this->git('config user.name test && git config user.email test@example.org && git config commit.gpgSign false');
        $this->write('.gitignore', "/build/\n");
        $this->write('page', sprintf(self::PAGE, 'old'));
        $this->write('tools/docs', self::BUILDER);
        chmod("$this->repository/tools/docs", 0755);
        $this->git('add . && git commit --quiet --message old && git tag v0.1.0');

        foreach (['tools/docs', 'tools/workshop/site/versions.php', 'tools/workshop/site/text.php'] as $path) {
            $this->write($path, file_get_contents($path));
        }
        $this->write('CHANGELOG.md', "# Changelog\n\n## 0.2.0 (unreleased)\n\n## 0.1.0\n");
        foreach (['index', 'docs/both', 'docs/added'] as $page) {
            $this->write(self::SITE . "/$page.html", sprintf(self::PAGE, 'new'));
        }
    }

    public function testTheSiteOfATagIsKeptBesideTheNewOne(): void
    {
        foreach (['once', 'again'] as $ignored) {
            self::assertSame([0, ['build/versions/0.1.0/index.html']], $this->docs('--version 0.1.0'));
            self::assertStringContainsString('<h1>old', $this->page('0.1.0/index.html'));
            self::assertStringContainsString('<h1>new', $this->page('index.html'));
            self::assertDirectoryDoesNotExist("$this->repository/build/version", 'the worktree was left');
            self::assertDirectoryDoesNotExist("$this->repository/build/site/0.1.0/0.1.0");
        }
    }

    public function testAPageLeadsToItselfInEachVersionOrToTheFirstPage(): void
    {
        $this->docs('--version 0.1.0');
        $lists = [
            'index.html' => ['<b>0.2.0 (unreleased)</b>', '<a href="0.1.0/index.html">0.1.0</a>'],
            'docs/both.html' => ['<b>0.2.0 (unreleased)</b>', '<a href="../0.1.0/docs/both.html">0.1.0</a>'],
            'docs/added.html' => ['<b>0.2.0 (unreleased)</b>', '<a href="../0.1.0/index.html">0.1.0</a>'],
            '0.1.0/index.html' => ['<a href="../index.html">0.2.0 (unreleased)</a>', '<b>0.1.0</b>'],
            '0.1.0/docs/both.html' => ['<a href="../../docs/both.html">0.2.0 (unreleased)</a>', '<b>0.1.0</b>'],
            '0.1.0/docs/removed.html' => ['<a href="../../index.html">0.2.0 (unreleased)</a>', '<b>0.1.0</b>'],
        ];
        foreach ($lists as $page => $versions) {
            $list = '<span class="versions">Version ' . implode(' · ', $versions) . '</span>';
            self::assertStringContainsString($list, $this->page($page), $page);
        }
    }

    public function testNewerVersionsComeFirst(): void
    {
        foreach (['0.9.0', '0.10.0', '0.10.0-rc1'] as $tag) {
            $this->git("tag v$tag v0.1.0");
            $this->docs("--version $tag");
        }
        self::assertMatchesRegularExpression('/0\.2\.0 \(unreleased\).*>0\.10\.0<.*>0\.10\.0-rc1<.*>0\.9\.0</', $this->page('index.html'));
        self::assertStringContainsString('>0.10.0-rc1</a> · <b>0.9.0</b>', $this->page('0.9.0/docs/both.html'));
    }

    public function testAVersionWithoutATagIsRefused(): void
    {
        self::assertSame([66, ['docs: there is no tag v0.3.0']], $this->docs('--version 0.3.0'));
        foreach (['--version', '--version ../x', '--version 0.1.0 more', 'unknown'] as $arguments) {
            self::assertSame(64, $this->docs($arguments)[0], $arguments);
        }
    }

    public function testEveryPageOfThisSiteNamesItsVersion(): void
    {
        preg_match('/VERSION "(.+)"/', file_get_contents('core/worker/base/version.hpp'), $version);
        $files = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator(self::SITE));
        foreach (new \RegexIterator($files, '~(?<!/404)\.html$~') as $file) {
            $page = file_get_contents($file->getPathname());
            self::assertMatchesRegularExpression('/<span class="versions">Version .*<b>[^<]+<\/b>/', $page, $file->getPathname());
        }
        self::assertStringContainsString("<b>$version[1]", file_get_contents(self::SITE . '/docs/versions.html'));
    }

    /** @return array{int, string[]} status, and what was said */
    private function docs(string $arguments): array
    {
        exec("$this->repository/tools/docs $arguments 2>&1", $lines, $status);
        return [$status, $lines];
    }

    private function git(string $arguments): void
    {
        exec("cd $this->repository && git $arguments 2>&1", $lines, $status);
        self::assertSame(0, $status, implode("\n", $lines));
    }

    private function page(string $path): string
    {
        return file_get_contents("$this->repository/" . self::SITE . "/$path");
    }

    private function write(string $path, string $text): void
    {
        $file = "$this->repository/$path";
        is_dir(dirname($file)) || mkdir(dirname($file), recursive: true);
        file_put_contents($file, $text);
    }
}
