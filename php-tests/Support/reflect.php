<?php

// Prints all classes and functions of the namespace KeySieve, wherever they come from, one fact per line.

$modifiers = static fn (ReflectionClass|ReflectionMethod|ReflectionProperty|ReflectionClassConstant $of): string
    => implode(' ', Reflection::getModifierNames($of->getModifiers()));
$describe_function = static function (ReflectionFunctionAbstract $function): string {
    $parameters = array_map(
        static fn (ReflectionParameter $parameter): string => "{$parameter->getType()} \${$parameter->getName()}"
            . ($parameter->isOptional() ? ' = ' . var_export($parameter->getDefaultValue(), true) : ''),
        $function->getParameters(),
    );
    return "function {$function->getName()}(" . implode(', ', $parameters) . "): {$function->getReturnType()}\n";
};

$lines = [];
foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $name) {
    $class = new ReflectionClass($name);
    if ($class->getNamespaceName() !== 'KeySieve') {
        continue;
    }
    $of = "$name: ";
    // PHP 8.2 calls enums final only when they are written in PHP.
    $lines[] = $of . ($class->isEnum() ? 'enum' : $modifiers($class) . ($class->isInterface() ? ' interface' : ' class'))
        . ', parent ' . ($class->getParentClass() ? $class->getParentClass()->getName() : 'none')
        . ', interfaces ' . implode(' ', $class->getInterfaceNames()) . "\n";
    foreach ($class->getReflectionConstants() as $constant) {
        $lines[] = $of . $modifiers($constant) . " constant {$constant->getName()}\n";
    }
    foreach ($class->getProperties() as $property) {
        if ($property->getDeclaringClass()->getName() === $name) {
            $lines[] = $of . $modifiers($property) . " {$property->getType()} \${$property->getName()}\n";
        }
    }
    foreach ($class->getMethods() as $method) {
        if ($method->getDeclaringClass()->getName() === $name) {
            $lines[] = $of . $modifiers($method) . ' ' . $describe_function($method);
        }
    }
}
$functions = get_defined_functions();
foreach ([...$functions['internal'], ...$functions['user']] as $name) {
    if (str_starts_with($name, 'keysieve\\')) {
        $lines[] = $describe_function(new ReflectionFunction($name));
    }
}
sort($lines);
echo implode('', $lines);
