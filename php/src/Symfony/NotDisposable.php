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
    /** @var array<string, string> for Symfony 5.4 */
    protected static $errorNames = self::ERROR_NAMES;

    public string $message = DisposableDomains::REFUSAL;

    /**
     * @param null|array<string, mixed> $options the same by name, as Symfony 5.4 gives them from files in YAML and XML
     * @param null|string[]             $groups
     */
    #[HasNamedArguments]
    public function __construct(?array $options = null, ?string $message = null, ?array $groups = null, mixed $payload = null)
    {
        parent::__construct($options, $groups, $payload);
        $this->message = $message ?? $this->message;
    }
}
