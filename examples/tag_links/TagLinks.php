<?php

declare(strict_types=1);

namespace App;

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
        $keys = array_map(static fn (string $tag): string => TagKey::of($tag), $tags);
        $articles = $this->among(
            'SELECT tag, title FROM articles WHERE tag IN (?)',
            array_intersect_key($keys, $this->articles->candidates($tags)),
        );
        $offers = $this->among(
            'SELECT tag, count(*) FROM offers WHERE tag IN (?) GROUP BY tag',
            array_intersect_key($keys, $this->offers->candidates($tags)),
        );
        return array_map(static fn (string $tag, string $key): array => [
            'tag' => $tag,
            'article' => $articles[$key] ?? null,
            'offers' => $offers[$key] ?? 0,
        ], $tags, $keys);
    }

    /**
     * @param string[] $candidates
     * @return array<string|int, mixed> the second column by the first
     */
    private function among(string $sql, array $candidates): array
    {
        if ($candidates === []) {
            return [];
        }
        return array_column(array_map(static fn (array $row): array => array_values($row), $this->db->rowsAmong($sql, $candidates)), 1, 0);
    }
}
