<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Validation\BreachedPasswords;
use Symfony\Component\Validator\Constraint;
use Symfony\Component\Validator\ConstraintValidator;

final class NotBreachedValidator extends ConstraintValidator
{
    public function __construct(private readonly BreachedPasswords $breached)
    {
    }

    public function validate(mixed $value, Constraint $constraint): void
    {
        $isText = is_scalar($value) || $value instanceof \Stringable;
        if ($isText && (string) $value !== '' && $constraint instanceof NotBreached && $this->breached->has((string) $value)) {
            $this->context->buildViolation($constraint->message)->setCode(NotBreached::BREACHED_ERROR)->addViolation();
        }
    }
}
