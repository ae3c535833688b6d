<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/**
 * The differences between extension and package that are meant, in one story. What is not listed here is a finding.
 *
 * 1. PHP says of a function in PHP where it was called.
 * 2. PHP cannot pass null on as the empty string, so it is no key for the package. That call is neither counted nor logged.
 * 3. PHP would make an int of a fraction, so a single key may be a float for the package, and a TypeError names that type too.
 *
 * Stories avoid what else differs:
 *
 * 4. The package reads shards, and the tables of sets with more than Contents::MOST_SHARDS, when it needs them. So it sees later
 *    whether they are damaged, or cannot be. The extension leaves that to the loader (Contents::damaged()).
 * 5. If the control page is a link to nothing, or is gone from a directory that may not be listed, the package does not know whether
 *    there is one, and answers maybe. The extension goes on as without one. Nor can the package look behind a file under open_basedir
 *    (Spoiling::spoil()).
 * 6. Both take their time before they try again what they could not read, but not the same time. The extension looks at clock and
 *    files less often, but always in a new request (SetHistory::$isSeenAtOnce).
 * 7. For the reason of 3, a caller with strict types may pass a float to the package, but not to the extension (Questions::any()).
 */
final class Agreed
{
    /** Whether the extension has answered calls that the package has refused. */
    private bool $countsDiffer = false;

    public function __construct(private readonly string $set)
    {
    }

    /**
     * @param array{extension: array<string, mixed>, package: array<string, mixed>} $answers
     * @return array{extension: array<string, mixed>, package: array<string, mixed>} the same where they differ as agreed
     */
    public function alike(Question $question, array $answers): array
    {
        if ($question->call === 'stats') {
            return $this->countsOfTheSet($answers);
        }
        if ($question->call === 'error_log' && $this->countsDiffer) {
            return ['extension' => [], 'package' => []];
        }
        if (isset($answers['package']['threw'])) {
            $message = &$answers['package']['threw']['message'];
            $message = preg_replace(['/, called in .+ on line \d+\z/', '/ must be of type string\|int\K\|float,/'], ['', ','], $message);
        }
        return $question->isStrict ? $answers : $this->withoutNull($answers);
    }

    /** Other stories have asked other sets. */
    private function countsOfTheSet(array $answers): array
    {
        $own = $this->countsDiffer ? [] : [$this->set => 0];
        $counts = static fn (array $answer): array => ['returned' => array_intersect_key($answer['returned'], $own)] + $answer;
        return array_map($counts, $answers);
    }

    private function withoutNull(array $answers): array
    {
        $message = $answers['package']['threw']['message'] ?? '';
        if (preg_match('/ must be of type \S+, null given\z/', $message) === 1) {
            $threw = $answers['extension']['threw'] ?? ['class' => '', 'message' => ''];
            $hasAsked = $threw['class'] !== \TypeError::class || str_contains($threw['message'], '($ifUnknown) must return');
            $this->countsDiffer = $this->countsDiffer || $hasAsked;
            $answers['package'] = $answers['extension'];
        }
        return $answers;
    }
}
