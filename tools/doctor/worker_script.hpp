// What a worker runs for the doctor. It changes nothing, and needs no extension but json, which PHP always
// has, and none of the functions that disable_functions usually names. It does nothing unless it is asked
// with its own word, so that nobody else can run one that a doctor who was killed has left in a folder of
// pages. QUERY_STRING: names of sets between commas. What phpinfo() shows stands in for Info, whose moments
// need a time zone, which a chroot may not have.
#pragma once

#include <string_view>

namespace keysieve {

// Once when the script begins, and once before its answer, which is a line of JSON. What the pool's
// auto_prepend_file prints comes before, and PHP's own errors may come between.
inline constexpr const char* kAnswerMark = "keysieve-doctor:";

// The parameter of the request that must be the word.
inline constexpr const char* kWordParameter = "KEYSIEVE_DOCTOR_WORD";

inline constexpr const char* kPlaceOfWord = "{word}";

inline constexpr std::string_view kWorkerScript = R"php(<?php
(static function (): void {
    if (!hash_equals('{word}', $_SERVER['KEYSIEVE_DOCTOR_WORD'] ?? '')) {
        return;
    }
    echo 'keysieve-doctor:';
    $call = static fn (string $name, mixed ...$arguments): mixed =>
        function_exists($name) ? $name(...$arguments) : null;
    $extension = null;
    $settings = (new ReflectionExtension('core'))->getINIEntries();
    $sets = [];
    $shown = '';
    $find = static function (string $pattern) use (&$shown): string {
        return preg_match($pattern, $shown, $found) === 1 ? trim($found[1]) : '';
    };
    if (class_exists('KeySieve\Set', false)) {
        $extension = new ReflectionExtension('keysieve');
        $settings += $extension->getINIEntries();
        foreach (preg_split('~,~', $_SERVER['QUERY_STRING'], -1, PREG_SPLIT_NO_EMPTY) as $name) {
            $sets[$name] = ['availability' => (new KeySieve\Set($name))->availability()->name];
        }
        ob_start();
        $extension->info();
        $shown = ob_get_clean();
        foreach ($sets as $name => &$set) {
            $set['publication'] = (int) $find("~Set $name(?![a-z0-9_-]).*publication (\\d+)~");
        }
        unset($set);
    }
    echo 'keysieve-doctor:', json_encode([
        'php' => PHP_VERSION,
        'sapi' => PHP_SAPI,
        'zts' => (bool) PHP_ZTS,
        'pid' => $call('getmypid') ?? 0,
        'clock' => microtime(true),
        'uid' => $call('posix_geteuid'),
        'gid' => $call('posix_getegid'),
        'groups' => $call('posix_getgroups'),
        'extension' => $extension?->getVersion() ?? '',
        'formats' => $find('~Snapshot formats\D+([^<\n]*)~'),
        'instruction_set' => $call('getenv', 'KEYSIEVE_INSTRUCTION_SET') ?: '',
        'open_basedir' => $settings['open_basedir'] ?? '',
        'enabled' => $find('~keysieve\.enabled\W.*?\b(On|Off)\b~') === 'On',
        'directory' => $settings['keysieve.directory'] ?? '',
        'owner' => $settings['keysieve.owner'] ?? '',
        'sets' => (object) $sets,
    ]), "\n";
})();
)php";

}  // namespace keysieve
