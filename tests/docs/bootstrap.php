<?php

declare(strict_types=1);

require __DIR__ . '/../../php-tests/bootstrap.php';
require __DIR__ . '/Help.php';
require __DIR__ . '/Markdown.php';

chdir(__DIR__ . '/../..');
