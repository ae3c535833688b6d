<?php

declare(strict_types=1);

namespace App;

use KeySieve\Key;
use KeySieve\Membership;

/**
 * Which tags of a page have an article in the encyclopedia, which sell something in the shop? Most have neither, and the
 * database is not asked about those: one query per set for the few that may exist, or none at all.
 */
final class TagLinks
{
    public function __construct(
        private readonly Membership $articles,
        private readonly Membership $offers,
        private readonly Database $db,
    ) {
    }

    /**
     * @param list<string> $tags
     * @return list<array{tag: string, article: ?string, offers: int}> in the order of the tags
     */
    public function of(array $tags): array
    {
        // Hashed once for all sets that were built for one store.
        $keys = array_map(static fn (string $tag): Key => new Key(TagKey::of($tag)), $tags);
        $articles = $this->among(
            'SELECT tag, title FROM articles WHERE tag IN (?)',
            $this->articles->candidates($keys),
        );
        $offers = $this->among(
            'SELECT tag, count(*) FROM offers WHERE tag IN (?) GROUP BY tag',
            $this->offers->candidates($keys),
        );
        return array_map(static fn (string $tag, Key $key): array => [
            'tag' => $tag,
            'article' => $articles[$key->bytes] ?? null,
            'offers' => $offers[$key->bytes] ?? 0,
        ], $tags, $keys);
    }

    /**
     * @param Key[] $candidates
     * @return array<string|int, mixed> the second column by the first
     */
    private function among(string $sql, array $candidates): array
    {
        if ($candidates === []) {
            return [];
        }
        $bytes = array_map(static fn (Key $key): string => $key->bytes, $candidates);
        return array_column(array_map(static fn (array $row): array => array_values($row), $this->db->rowsAmong($sql, $bytes)), 1, 0);
    }
}
