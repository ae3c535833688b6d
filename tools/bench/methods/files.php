<?php

// Exact local files: CDB, LMDB, SQLite.

declare(strict_types=1);

require_once __DIR__ . '/method.php';

/** Exact local files through PHP's dba. */
abstract class Dba extends Method
{
    protected $file;

    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if (dba_exists($key, $this->file)) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

final class Cdb extends Dba
{
    public static function fill(Place $place): void
    {
        $file = dba_open($place->file('cdb'), 'n', 'cdb_make');
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                dba_insert($key, '', $file);
            }
        }
        dba_close($file);
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->file = dba_open($place->file('cdb'), 'r-', 'cdb');
    }

    public function sharedBytes(): int
    {
        return filesize($this->place->file('cdb'));
    }
}

final class Lmdb extends Dba
{
    private const MAP_BYTES = 1 << 30;

    public static function fill(Place $place): void
    {
        $file = dba_open($place->file('lmdb'), 'n', 'lmdb', 0644, self::MAP_BYTES);
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                dba_insert($key, '', $file);
            }
        }
        dba_close($file);
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->file = dba_open($place->file('lmdb'), 'r', 'lmdb', 0644, self::MAP_BYTES);
    }

    public function sharedBytes(): int
    {
        return 512 * stat($this->place->file('lmdb'))['blocks'];
    }
}

final class Sqlite extends Method
{
    private readonly SQLite3Stmt $select;
    private readonly SQLite3 $database;

    public static function fill(Place $place): void
    {
        $database = new SQLite3($place->file('sqlite'));
        $database->exec('PRAGMA journal_mode = off; CREATE TABLE keys (key BLOB PRIMARY KEY) WITHOUT ROWID; BEGIN');
        $insert = $database->prepare('INSERT INTO keys VALUES (?)');
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                $insert->bindValue(1, $key, SQLITE3_BLOB);
                $insert->execute();
            }
        }
        $database->exec('COMMIT; VACUUM');
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->database = new SQLite3($place->file('sqlite'), SQLITE3_OPEN_READONLY);
        $this->database->exec('PRAGMA mmap_size = 1073741824; PRAGMA locking_mode = exclusive');
        $marks = implode(',', array_fill(0, KEYS_OF_A_PAGE, '?'));
        $this->select = $this->database->prepare("SELECT key FROM keys WHERE key IN ($marks)");
    }

    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $i => $key) {
                $this->select->bindValue($i + 1, $key, SQLITE3_BLOB);
            }
            $rows = $this->select->execute();
            while ($rows->fetchArray(SQLITE3_NUM) !== false) {
                ++$found;
            }
            $this->select->reset();
        }
        return $found;
    }

    public function sharedBytes(): int
    {
        return filesize($this->place->file('sqlite'));
    }
}
