<?php

declare(strict_types=1);

namespace KeySieve\Validation;

use KeySieve\Keys\DomainKey;
use KeySieve\Membership;

/**
 * Domains that give anyone a mailbox for ten minutes: a set of them as DomainKey::of() writes them.
 *
 * A "maybe" alone would lock out one honest domain in a hundred (the false-positive rate), and always the same ones. So let the exact
 * list have the last word: $isListed is called only for the few addresses whose domain may be in the set. Without it, build the set
 * for a rate that you accept, such as 0.00001, which takes about 3 bytes per domain.
 */
final class DisposableDomains
{
    public const REFUSAL = 'Please use a permanent e-mail address.';

    private readonly Blocklist $list;

    /** @param null|\Closure(list<string>): bool $isListed whether the exact list has one of these, as DomainKey::of() writes them */
    public function __construct(Membership $disposable, private readonly ?\Closure $isListed = null)
    {
        $this->list = new Blocklist($disposable);
    }

    /**
     * Looks up the domain and its parent domains in one call. The address may have spaces around it, and a name: Bob <a@b.example>.
     * False for what is no address. While the set is unavailable, $isListed decides; without it every address passes.
     */
    public function has(string $address): bool
    {
        $domains = self::domains($address);
        $candidates = $domains === [] ? [] : $this->list->candidates($domains);
        if ($candidates === []) {
            return false;
        }
        return $this->isListed === null ? $candidates !== null : ($this->isListed)($candidates ?? $domains);
    }

    /**
     * The address's domain and its parent domains except the top-level one: a.b.example, b.example.
     *
     * @return list<string>
     */
    private static function domains(string $address): array
    {
        $address = preg_replace('/\A.*<([^<>]*)>\s*\z/s', '$1', $address) ?? '';
        $domain = DomainKey::of(substr((string) strrchr($address, '@'), 1));
        $domains = [];
        while ($domain !== null && str_contains($domain, '.')) {
            $domains[] = $domain;
            $domain = substr((string) strstr($domain, '.'), 1);
        }
        return $domains;
    }
}
