// What a worker runs for the doctor. It changes nothing, and needs no extension but json, which PHP always
// has. It does nothing unless it is asked with its own word, so that nobody else can run one that a doctor
// who was killed has left in a folder of pages. QUERY_STRING: names of sets between commas. What phpinfo()
// shows stands in for Info, whose moments need a time zone, which a chroot may not have.
#pragma once

#include <string_view>

namespace keysieve {

// Whatever the pool's auto_prepend_file prints comes before it.
inline constexpr const char* kAnswerMark = "keysieve-doctor:";

// The parameter of the request that must be the word.
inline constexpr const char* kWordParameter = "KEYSIEVE_DOCTOR_WORD";

inline constexpr const char* kPlaceOfWord = "{word}";

inline constexpr std::string_view kWorkerScript = R"php(<?php
(static function (): void {
    if (!hash_equals('{word}', $_SERVER['KEYSIEVE_DOCTOR_WORD'] ?? '')) {
        return;
    }
    $groups = function_exists('posix_getgroups') ? posix_getgroups() : null;
    $sets = [];
    $shown = '';
    $find = static function (string $pattern) use (&$shown): string {
        return preg_match($pattern, $shown, $found) === 1 ? trim($found[1]) : '';
    };
    if (extension_loaded('keysieve')) {
        foreach (preg_split('~,~', $_SERVER['QUERY_STRING'], -1, PREG_SPLIT_NO_EMPTY) as $name) {
            $sets[$name] = ['availability' => (new KeySieve\Set($name))->availability()->name];
        }
        ob_start();
        (new ReflectionExtension('keysieve'))->info();
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
        'pid' => getmypid(),
        'clock' => microtime(true),
        'uid' => $groups === null ? null : posix_geteuid(),
        'gid' => $groups === null ? null : posix_getegid(),
        'groups' => $groups,
        'extension' => phpversion('keysieve') ?: '',
        'formats' => $find('~Snapshot formats\D+([^<\n]*)~'),
        'instruction_set' => getenv('KEYSIEVE_INSTRUCTION_SET') ?: '',
        'open_basedir' => ini_get('open_basedir') ?: '',
        'enabled' => (bool) ini_get('keysieve.enabled'),
        'directory' => ini_get('keysieve.directory') ?: '',
        'owner' => ini_get('keysieve.owner') ?: '',
        'sets' => (object) $sets,
    ]);
})();
)php";

}  // namespace keysieve
