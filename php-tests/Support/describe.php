<?php

// Prints every signature in the namespace KeySieve: of the extension, or of the stub that is its argument.

declare(strict_types=1);

if (isset($argv[1])) {
    require $argv[1];
}

function describe_function(ReflectionFunctionAbstract $function): string
{
    $parameters = array_map(
        static fn (ReflectionParameter $parameter): string => $parameter->getType() . ' $' . $parameter->getName()
            . ($parameter->isOptional() ? ' = ' . var_export($parameter->getDefaultValue(), true) : ''),
        $function->getParameters(),
    );
    return $function->getName() . '(' . implode(', ', $parameters) . '): ' . $function->getReturnType();
}

function modifiers(ReflectionMethod|ReflectionProperty|ReflectionClass $of): string
{
    return implode(' ', Reflection::getModifierNames($of->getModifiers()));
}

function describe_class(ReflectionClass $class): array
{
    // PHP marks enums of its own code final, but not those of extensions.
    $lines = [($class->isEnum() ? 'enum' : modifiers($class)) . ' ' . $class->getName() . ' : ' . implode(', ', [
        $class->getParentClass() ? $class->getParentClass()->getName() : '-',
        ...array_filter($class->getInterfaceNames(), static fn (string $name): bool => str_contains($name, '\\')),
    ])];
    foreach ($class->getProperties() as $property) {
        if ($property->getDeclaringClass()->getName() === $class->getName()) {
            $lines[] = '  ' . modifiers($property) . ' ' . $property->getType() . ' $' . $property->getName();
        }
    }
    foreach ($class->getMethods() as $method) {
        if ($method->getDeclaringClass()->getName() === $class->getName() && !enum_exists($class->getName())) {
            $lines[] = '  ' . modifiers($method) . ' ' . describe_function($method);
        }
    }
    foreach ($class->getReflectionConstants() as $constant) {
        $lines[] = '  case ' . $constant->getName();
    }
    return $lines;
}

$lines = [];
foreach ([...get_declared_interfaces(), ...get_declared_classes()] as $name) {
    if (str_starts_with($name, 'KeySieve\\')) {
        $lines[$name] = implode("\n", describe_class(new ReflectionClass($name)));
    }
}
foreach (array_merge(...array_values(get_defined_functions())) as $name) {
    if (str_starts_with($name, 'keysieve\\')) {
        $lines[$name] = describe_function(new ReflectionFunction($name));
    }
}
ksort($lines);
echo implode("\n", $lines), "\n";
