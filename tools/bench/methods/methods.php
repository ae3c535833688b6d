<?php

// All ways to ask whether keys exist.

declare(strict_types=1);

require_once __DIR__ . '/keysieve.php';
require_once __DIR__ . '/arrays.php';
require_once __DIR__ . '/apcu.php';
require_once __DIR__ . '/shards.php';
require_once __DIR__ . '/files.php';
require_once __DIR__ . '/servers.php';
