<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Validation\BreachedPasswords;
use Symfony\Component\Validator\Constraint;

/** Refuses a password that many people use, or that was published. An empty value passes: that is for NotBlank. */
#[\Attribute(\Attribute::TARGET_PROPERTY | \Attribute::TARGET_METHOD | \Attribute::IS_REPEATABLE)]
final class NotBreached extends Constraint
{
    public string $message = BreachedPasswords::REFUSAL;

    /**
     * @param null|array<string, mixed> $options the same by name, as files in YAML and XML give them
     * @param null|string[]             $groups
     */
    public function __construct(?array $options = null, ?string $message = null, ?array $groups = null, mixed $payload = null)
    {
        parent::__construct($options, $groups, $payload);
        $this->message = $message ?? $this->message;
    }
}
