<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Validation\BreachedPasswords;
use Symfony\Component\Validator\Attribute\HasNamedArguments;
use Symfony\Component\Validator\Constraint;

/** Refuses a password that many people use, or that was published. An empty value passes: that is for NotBlank. */
#[\Attribute(\Attribute::TARGET_PROPERTY | \Attribute::TARGET_METHOD | \Attribute::IS_REPEATABLE)]
final class NotBreached extends Constraint
{
    public const BREACHED_ERROR = '3b483ab1-bfe2-4821-994b-289bd0d5bf98';

    protected const ERROR_NAMES = [self::BREACHED_ERROR => 'BREACHED_ERROR'];

    public string $message = BreachedPasswords::REFUSAL;

    /** @param null|string[] $groups */
    #[HasNamedArguments]
    public function __construct(?string $message = null, ?array $groups = null, mixed $payload = null)
    {
        parent::__construct(null, $groups, $payload);
        $this->message = $message ?? $this->message;
    }
}
