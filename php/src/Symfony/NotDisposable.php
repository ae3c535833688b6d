<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Validation\DisposableDomains;
use Symfony\Component\Validator\Attribute\HasNamedArguments;
use Symfony\Component\Validator\Constraint;

/** Refuses an e-mail address at a domain that gives anyone a mailbox. An empty value passes: that is for NotBlank. */
#[\Attribute(\Attribute::TARGET_PROPERTY | \Attribute::TARGET_METHOD | \Attribute::IS_REPEATABLE)]
final class NotDisposable extends Constraint
{
    public const DISPOSABLE_ERROR = '5a369dda-86b7-417d-8c66-fb079fc7f1d8';

    protected const ERROR_NAMES = [self::DISPOSABLE_ERROR => 'DISPOSABLE_ERROR'];

    public string $message = DisposableDomains::REFUSAL;

    /** @param null|string[] $groups */
    #[HasNamedArguments]
    public function __construct(?string $message = null, ?array $groups = null, mixed $payload = null)
    {
        parent::__construct(null, $groups, $payload);
        $this->message = $message ?? $this->message;
    }
}
