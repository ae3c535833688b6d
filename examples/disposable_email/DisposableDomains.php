<?php

declare(strict_types=1);

namespace App;

use KeySieve\Membership;
use PDOException;

/**
 * Is an address at a domain that gives anyone a mailbox for ten minutes?
 *
 * "Maybe" must block no one: one honest domain in a hundred (the false-positive rate) would be locked out, and always the
 * same one. So the exact list has the last word, and no address is blocked while the list is unavailable. The set saves the
 * list from nearly all questions about honest addresses.
 */
final class DisposableDomains
{
    public function __construct(
        private readonly Membership $listed,
        private readonly Database $db,
    ) {
    }

    public function has(string $address): bool
    {
        $candidates = $this->listed->candidates(self::domains($address));
        return $candidates !== [] && $this->areListed($candidates);
    }

    /**
     * The address's domain and its parent domains except the top-level one: a.b.example, b.example.
     *
     * @return string[]
     */
    private static function domains(string $address): array
    {
        $domain = DomainKey::of(substr((string) strrchr($address, '@'), 1));
        $domains = [];
        while ($domain !== null && str_contains($domain, '.')) {
            $domains[] = $domain;
            $domain = explode('.', $domain, 2)[1];
        }
        return $domains;
    }

    /** @param string[] $domains */
    private function areListed(array $domains): bool
    {
        try {
            return $this->db->rowsAmong('SELECT 1 FROM disposable_domains WHERE domain IN (?)', $domains) !== [];
        } catch (PDOException $exception) {
            error_log("disposable domains cannot be asked: {$exception->getMessage()}");
            return false;
        }
    }
}
