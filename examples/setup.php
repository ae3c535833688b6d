<?php

// Creates the database of these examples, with a few rows: php setup.php

declare(strict_types=1);

use App\Database;
use App\TagKey;
use App\UserNameKey;

require __DIR__ . '/../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/Database.php';
require __DIR__ . '/tag_links/TagKey.php';
require __DIR__ . '/usernames/UserNameKey.php';

$db = new Database();
$db->connection()->exec(<<<'SQL'
    CREATE TABLE articles (tag TEXT PRIMARY KEY, title TEXT NOT NULL);
    CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE offers (tag TEXT NOT NULL, product INTEGER NOT NULL, PRIMARY KEY (tag, product));
    CREATE TABLE users (name_key TEXT PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE disposable_domains (domain TEXT PRIMARY KEY);
    SQL);
foreach (['猫', '桜', '初音ミク', 'Café', 'Tokyo Tower', 'PHP', '2024'] as $title) {
    $db->rows('INSERT INTO articles VALUES (?, ?)', [TagKey::of($title), $title]);
}
foreach ([42 => 'Cat food', 43 => 'Scratching post', 2024 => 'Calendar'] as $id => $name) {
    $db->rows('INSERT INTO products VALUES (?, ?)', [$id, $name]);
}
foreach ([['猫', 42], ['猫', 43], ['2024', 2024]] as [$tag, $product]) {
    $db->rows('INSERT INTO offers VALUES (?, ?)', [TagKey::of($tag), $product]);
}
foreach (['alice', 'Bob', 'jürgen'] as $name) {
    $db->rows('INSERT INTO users VALUES (?, ?)', [(string) UserNameKey::of($name), $name]);
}
foreach (['mailinator.example', 'trash.example', 'xn--mll-hoa.example'] as $domain) {
    $db->rows('INSERT INTO disposable_domains VALUES (?)', [$domain]);
}
