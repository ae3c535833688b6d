<?php

declare(strict_types=1);

namespace KeySieve\Tests\Sources;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SourceTestCase;

/** Files and stores that must be signed. */
final class SignedTest extends SourceTestCase
{
    public function testAFileIsFollowedOnlyToWhatItsKeyHasSigned(): void
    {
        $key = $this->publicKey('one');
        $this->publicKey('other');
        $this->buildFile(['apple'], ['--sign-key', "$this->folder/one.key", '--as-of', '@1700003600']);
        $others = [
            'is not signed' => $this->build(['pear']),
            'is signed by' => $this->build(['pear'], ['--sign-key', "$this->folder/other.key"]),
            'older than what was read before' => $this->build(['pear'], ['--sign-key', "$this->folder/one.key", '--as-of', '@1700000000']),
            '' => $this->build(['plum'], ['--sign-key', "$this->folder/one.key", '--as-of', '@1700007200']),
        ];
        $code = '';
        foreach ($others as $reason => $file) {
            $code .= "rename('$file', '$this->folder/fruits.ks'); \$later(1); \$say('$reason', \$set->mayContainMany(['apple', 'pear', 'plum']), \$set->info()->trouble);";
        }
        $script = $this->ask("files:$this->folder", '$say($set->mayContain("pear"));' . $code, ['KEYSIEVE_PUBLIC_KEYS' => $key]);
        $lines = array_map(json_decode(...), explode("\n", trim($script->output)));
        self::assertSame([false], array_shift($lines), $script->errors);
        self::assertCount(count($others), $lines, $script->errors);
        foreach ($lines as [$reason, $answers, $trouble]) {
            self::assertSame($reason === '' ? [false, false, true] : [true, false, false], $answers);
            self::assertStringContainsString($reason, (string) $trouble);
            self::assertSame($reason === '', $trouble === null);
        }
    }

    public function testAStoreIsReadOnlyIfItsKeyHasSignedWhatIsCurrent(): void
    {
        $store = "dir:$this->folder/store";
        $key = $this->publicKey('one');
        $this->push($store, ['apple'], ['--sign-key', "$this->folder/one.key"]);
        $next = $this->build(['apple', 'pear'], ['--like', $store]);
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        $script = $this->ask($store, <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear', 'plum']), \$set->availability()->name);
            exec('$keysieve push $next $store');
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear', 'plum']), \$set->availability()->name);
            PHP, ['KEYSIEVE_PUBLIC_KEYS' => $key]);
        self::assertSame("[[true,false,false],\"Ready\"]\n[[true,true,true],\"Missing\"]\n", $script->output, $script->errors);
        self::assertStringContainsString('is not signed, but must be by ' . substr($key, 0, 16), $script->errors);
    }

    public function testWrongPublicKeysMeanMaybeAndAreNotShown(): void
    {
        $this->buildFile(['apple']);
        $script = $this->ask("files:$this->folder", '$say($set->mayContain("pear"));', ['KEYSIEVE_PUBLIC_KEYS' => 'secret']);
        self::assertSame("[true]\n", $script->output);
        self::assertSame("keysieve: KEYSIEVE_PUBLIC_KEYS: key 1 is not a public key: 64 hexadecimal digits, as keysieve keygen prints them: every lookup answers maybe\n", $script->errors);
    }

    public function testPublicKeysThatAreSetButEmptyMeanMaybe(): void
    {
        $this->buildFile(['apple']);
        $script = PhpScript::run(
            "echo json_encode((new Set('fruits'))->mayContain('pear'));",
            ['keysieve.directory' => ''],
            ['env', 'KEYSIEVE_PUBLIC_KEYS='], // proc_open() passes no variable that is empty
            ['KEYSIEVE_SOURCE' => "files:$this->folder"],
        );
        self::assertSame('true', $script->output);
        self::assertStringStartsWith('keysieve: KEYSIEVE_PUBLIC_KEYS: key 1 is not a public key: ', $script->errors);
    }

    public function testWithoutSodiumASignedFileMeansMaybe(): void
    {
        $key = $this->publicKey('one');
        $this->buildFile(['apple'], ['--sign-key', "$this->folder/one.key"]);
        $code = "KeySieve\\Reader\\Settings::signedBy('$key'); echo json_encode((new Set('fruits'))->mayContain('pear'));";
        $ask = fn (string $disabled): Program => PhpScript::run(
            $code,
            ['keysieve.directory' => '', 'disable_functions' => $disabled],
            environment: ['KEYSIEVE_SOURCE' => "files:$this->folder"],
        );
        self::assertSame('false', $ask('')->output);
        $script = $ask('sodium_crypto_sign_verify_detached,sodium_crypto_generichash');
        self::assertSame('true', $script->output);
        self::assertStringContainsString("its signature cannot be checked without PHP's extension sodium", $script->errors);
    }
}
