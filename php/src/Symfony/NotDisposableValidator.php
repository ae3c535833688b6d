<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Validation\DisposableDomains;
use Symfony\Component\Validator\Constraint;
use Symfony\Component\Validator\ConstraintValidator;

final class NotDisposableValidator extends ConstraintValidator
{
    public function __construct(private readonly DisposableDomains $disposable)
    {
    }

    public function validate(mixed $value, Constraint $constraint): void
    {
        $isText = is_scalar($value) || $value instanceof \Stringable;
        if ($isText && (string) $value !== '' && $constraint instanceof NotDisposable && $this->disposable->has((string) $value)) {
            $this->context->buildViolation($constraint->message)->setCode(NotDisposable::DISPOSABLE_ERROR)->addViolation();
        }
    }
}
