<?php

// validate.php FILE.json SCHEMA.json: prints what is wrong, and then ends with status 1. Uses Debian's php-json-schema.

require '/usr/share/php/JsonSchema/autoload.php';

[, $file, $schema] = $argv;
$read = static fn (string $path): mixed => json_decode(file_get_contents($path), flags: JSON_THROW_ON_ERROR);
$document = $read($file);
$validator = new JsonSchema\Validator();
$validator->validate($document, $read($schema));
foreach ($validator->getErrors() as $error) {
    fwrite(STDERR, "$file: {$error['property']}: {$error['message']}\n");
}
exit($validator->isValid() ? 0 : 1);
