<?php

// A page of one product: /product.php?id=42. Every "maybe" is confirmed by the query that the page needs anyway. A new
// product has no page until its key is added: insert products as ../add_then_commit does.

declare(strict_types=1);

use App\Database;
use KeySieve\CountedSet;

require __DIR__ . '/../Database.php';
require __DIR__ . '/CountedSet.php';

$id = filter_var($_GET['id'] ?? null, FILTER_VALIDATE_INT);
$db = new Database();
$products = new CountedSet('products');

header('Content-Type: text/plain; charset=utf-8');
$find = static fn (int $id): ?string => $db->column('SELECT name FROM products WHERE id = ?', [$id])[0] ?? null;
echo $id === false ? 'not a number' : $products->lookup($id, $find) ?? 'no such product', "\n";
