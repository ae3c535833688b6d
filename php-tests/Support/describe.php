<?php

// Prints what the namespace KeySieve offers, of the extension or of the files that are its arguments: one fact per line.

declare(strict_types=1);

foreach (array_slice($argv, 1) as $file) {
    require_once $file;
}

$modifiers = static fn (ReflectionClass|ReflectionMethod|ReflectionProperty|ReflectionClassConstant $of): string
    => implode(' ', Reflection::getModifierNames($of->getModifiers()));
$describe_function = static function (ReflectionFunctionAbstract $function): string {
    $parameters = array_map(
        static fn (ReflectionParameter $parameter): string => "{$parameter->getType()} \${$parameter->getName()}"
            . ($parameter->isOptional() ? ' = ' . var_export($parameter->getDefaultValue(), true) : ''),
        $function->getParameters(),
    );
    // PHP code may write iterable for both; an extension has the two.
    $parameters = str_replace('Traversable|array', 'iterable', $parameters);
    return "function {$function->getName()}(" . implode(', ', $parameters) . "): {$function->getReturnType()}";
};

function sorted(array $names): array
{
    sort($names);
    return $names;
}

$lines = [];
foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $name) {
    $class = new ReflectionClass($name);
    if ($class->getNamespaceName() !== 'KeySieve') {
        continue;
    }
    // PHP marks enums of its own code final, but not those of extensions. A readonly class is as good as one with such properties.
    $lines[] = "$name: " . ($class->isEnum() ? 'enum' : str_replace(' readonly', '', $modifiers($class)) . ($class->isInterface() ? ' interface' : ' class'))
        . ', parent ' . ($class->getParentClass() ? $class->getParentClass()->getName() : 'none')
        . ', interfaces ' . implode(' ', sorted(array_diff($class->getInterfaceNames(), ['Serializable'])));
    foreach ($class->getReflectionConstants() as $constant) {
        $value = $constant->getValue() instanceof BackedEnum ? $constant->getValue()->value : '';
        $lines[] = "$name: {$modifiers($constant)} constant {$constant->getName()} $value";
    }
    // What is refused by a method in PHP, which needs an interface, is a flag in the extension.
    $isOwn = static fn (ReflectionMethod|ReflectionProperty $member): bool => $member->getDeclaringClass()->getName() === $name
        && !$member->isPrivate() && !str_contains((string) $member->getDocComment(), '@internal')
        && !in_array($member->getName(), ['__serialize', '__unserialize', 'serialize', 'unserialize'], true);
    foreach (array_filter($class->getProperties(), $isOwn) as $property) {
        $lines[] = "$name: {$modifiers($property)} {$property->getType()} \${$property->getName()}";
    }
    foreach (array_filter($class->getMethods(), $isOwn) as $method) {
        $lines[] = "$name: {$modifiers($method)} {$describe_function($method)}";
    }
}
foreach (array_merge(...array_values(get_defined_functions())) as $name) {
    if (str_starts_with($name, 'keysieve\\')) {
        $lines[] = $describe_function(new ReflectionFunction($name));
    }
}
sort($lines);
echo implode("\n", $lines), "\n";
