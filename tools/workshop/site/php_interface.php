<?php

// Makes the reference of the extension from ext/keysieve.stub.php and its comments.

declare(strict_types=1);

use PhpParser\Node;
use PhpParser\Node\Stmt;
use PhpParser\ParserFactory;
use PhpParser\PrettyPrinter\Standard;

require '/usr/share/php/PhpParser/autoload.php';

function php_interface_page(string $stub): string
{
    $namespace = (new ParserFactory())->create(ParserFactory::ONLY_PHP7)->parse($stub)[0];
    foreach ($namespace->stmts as $statement) {
        if ($statement instanceof Stmt\ClassLike) {
            $types[$statement->name->name] = $statement;
        } else {
            $functions[] = $statement;
        }
    }
    $page = "# PHP interface\n\nAll names are in the namespace `" . $namespace->name . "`.\n\n## Functions\n\n";
    $page .= implode('', array_map(callable_part(...), $functions));
    foreach ($types as $name => $type) {
        $page .= "## $name\n\n" . doc($type)['text'] . code_block('php', head_of($type)) . members($type, $types);
    }
    return $page;
}

/** @param array<string, Stmt\ClassLike> $types */
function members(Stmt\ClassLike $type, array $types): string
{
    $text = '';
    $rows = [];
    foreach ($type->stmts as $member) {
        if ($member instanceof Stmt\EnumCase) {
            $rows[] = [code($member->name->name), plain(doc($member)['text'])];
        } elseif ($member instanceof Stmt\Property) {
            $rows[] = [code(printed($member->type) . ' $' . $member->props[0]->name->name), plain(doc($member)['text'])];
        } elseif ($member instanceof Stmt\ClassMethod && $member->isPublic()) {
            $text .= callable_part($member, inherited_text($type, $member, $types));
        }
    }
    return ($rows === [] ? '' : table([$type instanceof Stmt\Enum_ ? 'case' : 'property', 'meaning'], $rows)) . $text;
}

/** The text about a method in the interface that declares it. */
function inherited_text(Stmt\ClassLike $type, Stmt\ClassMethod $method, array $types): string
{
    foreach ($type instanceof Stmt\Class_ ? $type->implements : [] as $interface) {
        $declared = ($types[(string) $interface] ?? null)?->getMethod($method->name->name);
        if ($declared !== null) {
            return doc($declared)['text'];
        }
    }
    return '';
}

function callable_part(Stmt\ClassMethod|Stmt\Function_ $callable, string $inherited = ''): string
{
    $doc = doc($callable);
    $signature = clone $callable;
    $signature->setAttribute('comments', []);
    $signature->stmts = $signature instanceof Stmt\ClassMethod ? null : [];
    $code = rtrim(preg_replace('/\s*\{\s*\}$/', ';', printed($signature)));
    return '### ' . $callable->name->name . "()\n\n" . code_block('php', $code) . ($doc['text'] ?: $inherited) . $doc['tags'];
}

function head_of(Stmt\ClassLike $type): string
{
    $head = clone $type;
    $head->setAttribute('comments', []);
    $head->stmts = [];
    return trim(preg_replace('/\s*\{\s*\}$/', '', printed($head)));
}

function printed(Node $node): string
{
    return str_replace(') : ', '): ', (new Standard())->prettyPrint([$node]));
}

/** @return array{text: string, tags: string} the comment of a declaration as Markdown */
function doc(Node $node): array
{
    $comment = preg_replace(['~^/\*\*|\s*\*/$~', '~^[ ]*\* ?~m'], '', (string) $node->getDocComment());
    $parts = preg_split('/^\s*@(?=[a-z])/m', $comment);
    $tags = '';
    foreach (array_slice($parts, 1) as $part) {
        [$tag, $text] = explode(' ', trim($part) . ' ', 2);
        $words = ['throws' => 'Throws', 'return' => 'Returns', 'param' => 'Takes', 'phpstan-param' => 'Takes', 'phpstan-return' => 'Returns'];
        if (isset($words[$tag])) {
            preg_match('/^([^<\s]+(?:<.*>|\{.*\})?(?: \$\w+)?)\s*(.*)$/s', trim($text), $found);
            $tags .= "- $words[$tag] " . code($found[1]) . ($found[2] === '' ? '' : ' ' . prose($found[2])) . "\n";
        }
    }
    $text = trim($parts[0]);
    return ['text' => $text === '' ? '' : prose($text) . "\n\n", 'tags' => $tags === '' ? '' : "$tags\n"];
}

/** In one line, for a table. */
function plain(string $text): string
{
    return trim(preg_replace('/\s+/', ' ', $text));
}
