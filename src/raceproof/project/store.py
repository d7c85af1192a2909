"""What is remembered between runs: one SQLite file in `.raceproof/`.

SQLite in WAL mode gives what is needed here: two processes at once see whole entries only, and a
process that is killed at any moment leaves the file as it was after its last commit. Each entry
carries a checksum, because a damaged page need not look damaged. Whatever is wrong with the file,
it is set aside and begun anew; nothing but time is lost.

Entries are plain data written with `marshal`, never pickles: a file that was put into a
repository must not run code.
"""

from __future__ import annotations

import hashlib
import marshal
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from raceproof.version import __version__

FOLDER = ".raceproof"
_FILE = "cache.db"
_FORMAT = 5
_GENERATIONS = 20
"""Runs after which an entry that was not used is forgotten."""
_CHECK = 8
_TABLES = ("stamps", "units", "summaries", "results")
_BUSY_SECONDS = 30.0


class Damaged(Exception):
    """An entry or the file is not what was written."""


def format_version() -> str:
    """Entries of another tool, format or interpreter are not ours."""
    return f"raceproof {__version__} format {_FORMAT} {sys.implementation.cache_tag}"


class Store:
    """Entries by table and key. All writing happens in `commit`, in one transaction."""

    def __init__(self, folder: Path | None) -> None:
        """`None` remembers nothing."""
        self.notices: list[str] = []
        self._folder = folder
        self._database: sqlite3.Connection | None = None
        self._generation = 0
        self._written: dict[tuple[str, bytes], list[bytes]] = {}
        self._used: set[tuple[str, bytes]] = set()
        if folder is not None:
            self._open_or_rebuild(folder)

    @property
    def is_kept(self) -> bool:
        return self._database is not None

    def get(self, table: str, key: bytes) -> Any | None:
        """The newest entry."""
        found = self.get_all(table, key)
        return found[-1] if found else None

    def get_all(self, table: str, key: bytes) -> list[Any]:
        """All entries of a key, in the order in which they were written."""
        if self._database is None:
            return []
        try:
            rows = self._database.execute(
                f"SELECT data FROM {table} WHERE key = ? ORDER BY rowid", (key,)
            ).fetchall()
            found = [_unpack(row[0]) for row in rows]
        except (sqlite3.DatabaseError, Damaged):
            self._rebuild()
            return []
        if found:
            self._used.add((table, key))
        return found

    def put(self, table: str, key: bytes, value: Any) -> None:
        """Replaces what the key had."""
        if self._database is not None:
            self._written[table, key] = [_pack(value)]

    def add(self, table: str, key: bytes, value: Any) -> None:
        """Another entry for the key."""
        if self._database is not None:
            self._written.setdefault((table, key), [b""]).append(_pack(value))

    def commit(self) -> None:
        if self._database is None or not self._written:
            return
        try:
            self._write(self._database)
        except sqlite3.DatabaseError as error:
            self.notices.append(f"the cache could not be written: {error}")
        self._written.clear()
        self._used.clear()

    def _write(self, database: sqlite3.Connection) -> None:
        database.execute("BEGIN IMMEDIATE")
        try:
            generation = self._generation + 1
            for (table, key), entries in self._written.items():
                if entries[0]:
                    database.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
                database.executemany(
                    f"INSERT INTO {table} (key, data, used) VALUES (?, ?, ?)",
                    [(key, entry, generation) for entry in entries if entry],
                )
            for table in _TABLES:
                database.executemany(
                    f"UPDATE {table} SET used = ? WHERE key = ?",
                    [(generation, key) for where, key in self._used if where == table],
                )
                database.execute(
                    f"DELETE FROM {table} WHERE used < ?", (generation - _GENERATIONS,)
                )
            database.execute("UPDATE about SET generation = ?", (generation,))
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    # --- opening ------------------------------------------------------------

    def _open_or_rebuild(self, folder: Path) -> None:
        try:
            _make_folder(folder)
            self._open(folder)
        except (sqlite3.OperationalError, OSError) as error:
            self.close()
            self.notices.append(f"works without a cache: {folder}: {_words(error)}")
        except (sqlite3.DatabaseError, Damaged):
            self._rebuild()

    def _open(self, folder: Path) -> None:
        database = sqlite3.connect(
            folder / _FILE, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=32
        )
        self._database = database
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        self._generation = _create(database)

    def _rebuild(self) -> None:
        """Starts again with an empty file."""
        assert self._folder is not None
        self.close()
        self._used.clear()
        self.notices.append(f"the cache in {self._folder} was damaged and is rebuilt")
        try:
            for suffix in ("", "-wal", "-shm"):
                (self._folder / (_FILE + suffix)).unlink(missing_ok=True)
            self._open(self._folder)
        except (sqlite3.DatabaseError, OSError) as error:
            self.close()
            self.notices.append(f"works without a cache: {self._folder}: {_words(error)}")


def _generation(database: sqlite3.Connection) -> int | None:
    """How many runs wrote into the tables; None if they are not there, or not ours."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone():
        return None
    found = database.execute("SELECT version, generation FROM about").fetchone()
    return int(found[1]) if found and found[0] == format_version() else None


def _create(database: sqlite3.Connection) -> int:
    """Makes the tables, unless they are there; returns how many runs wrote into them."""
    found = _generation(database)
    if found is not None:
        return found
    database.execute("BEGIN IMMEDIATE")
    found = _generation(database)
    if found is not None:
        database.execute("COMMIT")
        return found
    for table in _TABLES:
        database.execute(f"DROP TABLE IF EXISTS {table}")
        database.execute(f"CREATE TABLE {table} (key BLOB, data BLOB, used INTEGER)")
        database.execute(f"CREATE INDEX {table}_key ON {table} (key)")
    database.execute("DROP TABLE IF EXISTS about")
    database.execute("CREATE TABLE about (version TEXT, generation INTEGER)")
    database.execute("INSERT INTO about VALUES (?, 0)", (format_version(),))
    database.execute("COMMIT")
    return 0


def _make_folder(folder: Path) -> None:
    """The folder with a note that keeps it out of version control."""
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# Made by raceproof; can be deleted at any time.\n*\n", "utf-8")


def _pack(value: Any) -> bytes:
    data = marshal.dumps(value)
    return hashlib.blake2b(data, digest_size=_CHECK).digest() + data


def _unpack(entry: Any) -> Any:
    if not isinstance(entry, bytes) or len(entry) < _CHECK:
        raise Damaged
    check, data = entry[:_CHECK], entry[_CHECK:]
    if hashlib.blake2b(data, digest_size=_CHECK).digest() != check:
        raise Damaged
    return marshal.loads(data)


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def digest(parts: Iterable[str | bytes]) -> bytes:
    """A key made of texts; where one ends and the next begins counts."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.digest()
