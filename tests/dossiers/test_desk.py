"""The desk: its database is made, migrated, backed up, and outlives kills."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sql

from esr.dossiers import tables
from esr.dossiers.backup import back_up_desk, restore_desk
from esr.dossiers.desk import Desk, DeskUnusable, find_desk, open_desk
from esr.dossiers.records import Content, Edit, Person
from esr.dossiers.saved_searches import SavedSearches
from esr.dossiers.store import Dossiers
from esr.errors import UsageError
from tests.support.processes import ForkedProcess
from tests.support.runs import rounds

ANN = Person("ann")


def sentence(text: str) -> Content:
    return Content(document_id="a", sentence_id=text, text=text)


def texts(desk: Desk) -> list[str]:
    """The texts of the first dossier."""
    store = Dossiers(desk)
    (summary, *_) = store.list_readable(ANN)
    return [item.text for item in store.read(ANN, summary.id).items]


def test_a_desk_of_a_newer_version_is_refused(where: str) -> None:
    with Desk(where, migrations=[lambda connection: None] * 7) as newer, newer.reading():
        pass
    with (
        Desk(where) as older,
        pytest.raises(DeskUnusable, match="has version 8, and this esr knows versions"),
    ):
        Dossiers(older).list_readable(ANN)


def test_a_desk_of_an_older_version_is_migrated_once_and_keeps_what_it_has(where: str) -> None:
    done: list[int] = []

    def add_column(connection: sql.Connection) -> None:
        done.append(1)
        connection.execute(sql.text("ALTER TABLE dossiers ADD COLUMN colour VARCHAR(10)"))

    with Desk(where) as desk:
        Dossiers(desk).create(ANN, "Old")
    for _ in range(2):
        with Desk(where, migrations=[add_column]) as desk:
            assert [summary.name for summary in Dossiers(desk).list_readable(ANN)] == ["Old"]
            with desk.reading() as connection:
                assert tables.read_version(connection) == 2
    assert done == [1]


def test_a_migration_that_fails_changes_nothing(where: str) -> None:
    def fail(connection: sql.Connection) -> None:
        connection.execute(sql.text("ALTER TABLE dossiers ADD COLUMN colour VARCHAR(10)"))
        connection.execute(sql.text("SELECT nothing FROM nowhere"))

    with Desk(where) as desk:
        Dossiers(desk).create(ANN, "Old")
    with Desk(where, migrations=[fail]) as desk, pytest.raises(DeskUnusable):
        Dossiers(desk).list_readable(ANN)
    with Desk(where) as desk, desk.reading() as connection:
        assert "colour" not in {column["name"] for column in sql.inspect(connection).get_columns("dossiers")}
        assert tables.read_version(connection) == 1


def test_two_who_write_at_once_both_succeed(where: str) -> None:
    with Desk(where) as first, Desk(where) as second:
        name = "Shared'); DROP TABLE dossiers; --"
        id = Dossiers(first).create(ANN, name).id
        added = Dossiers(first).add(ANN, id, [sentence("first")]).items

        def write(desk: Desk, name: str) -> None:
            store = Dossiers(desk)
            for number in range(10):
                store.add(ANN, id, [sentence(f"{name}{number}")])
                store.edit(ANN, id, added[0].id, Edit(tags=(f"{name}{number}",)), base=added[0].version)

        threads = [threading.Thread(target=write, args=each) for each in ((first, "a"), (second, "b"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        items = Dossiers(first).read(ANN, id).items
        assert Dossiers(second).read(ANN, id).name == name
        names = [f"{name}{number}" for name in "ab" for number in range(10)]
        assert sorted(item.text for item in items) == sorted([*names, "first"])
        assert sorted(items[0].tags) == sorted(names)
        changes = Dossiers(first).history(ANN, id)
        assert [change.version for change in changes] == list(range(42, 0, -1))


def test_a_backup_holds_one_state_and_restores_it(where: str, tmp_path: Path) -> None:
    with Desk(where) as desk:
        id = Dossiers(desk).create(ANN, "Kept").id
        Dossiers(desk).add(ANN, id, [sentence("before")])
        SavedSearches(desk).create(ANN, "storms", {"q": ("storm",)})
        with desk.writing() as connection:  # of another part of esr
            number = f"number {'SERIAL' if 'postgresql' in where else 'INTEGER'} PRIMARY KEY"
            text = "text VARCHAR(9) DEFAULT '' NOT NULL"
            connection.execute(sql.text(f"CREATE TABLE alert_other ({number}, {text})"))
            connection.execute(sql.text("INSERT INTO alert_other (text) VALUES ('x'), ('y')"))
            connection.execute(sql.text(f"CREATE TABLE alert_empty ({number}, text VARCHAR(9))"))
        assert back_up_desk(desk, tmp_path / "backup") == (tmp_path / "backup").stat().st_size
        Dossiers(desk).add(ANN, id, [sentence("after")])
        restore_desk(tmp_path / "backup", desk)
        assert texts(desk) == ["before"]
        assert [search.arguments for search in SavedSearches(desk).list_readable(ANN)] == [{"q": ("storm",)}]
        Dossiers(desk).add(ANN, id, [sentence("later")])
        with desk.writing() as connection:
            connection.execute(sql.text("INSERT INTO alert_other DEFAULT VALUES"))
            rows = connection.execute(sql.text("SELECT number, text FROM alert_other ORDER BY number")).all()
            connection.execute(sql.text("INSERT INTO alert_empty (text) VALUES ('first')"))
            assert connection.scalar(sql.text("SELECT number FROM alert_empty")) == 1
        assert [tuple(row) for row in rows] == [(1, "x"), (2, "y"), (3, "")]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("backup")) == ["backup"]


@pytest.mark.slow
def test_a_backup_of_a_file_is_restored_in_postgresql(tmp_path: Path, postgresql: str) -> None:
    import psycopg

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS moved")
        connection.execute("CREATE DATABASE moved")
    with Desk(str(tmp_path / "desk")) as desk:
        Dossiers(desk).add(ANN, Dossiers(desk).create(ANN, "Moved").id, [sentence("ä")])
        back_up_desk(desk, tmp_path / "backup")
    with Desk(postgresql.replace("/postgres?", "/moved?")) as moved:
        with moved.writing() as connection:  # of another application
            connection.execute(sql.text("CREATE TABLE accounts AS SELECT 1 AS number"))
        restore_desk(tmp_path / "backup", moved)
        assert texts(moved) == ["ä"]
        with moved.reading() as connection:
            assert connection.scalar(sql.text("SELECT number FROM accounts")) == 1
        back_up_desk(moved, tmp_path / "again")
    with Desk(str(tmp_path / "again")) as again, again.reading() as connection:
        assert not sql.inspect(connection).has_table("accounts")


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """A function that puts a file on a medium that cannot be written."""
    medium = tmp_path / "medium"
    medium.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(medium)]
    if (is_root := os.geteuid() == 0) and subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a file system is not permitted here")

    def put(path: Path) -> Path:
        kept = medium / path.name
        shutil.copyfile(path, kept)
        kept.chmod(0o400)
        medium.chmod(0o500)
        if is_root:
            subprocess.run(["mount", "-o", "remount,ro", str(medium)], check=True)
        return kept

    yield put
    if is_root:
        subprocess.run(["umount", "--lazy", str(medium)], check=True)
    else:
        medium.chmod(0o700)


def test_a_backup_on_a_read_only_medium_is_restored(
    where: str, tmp_path: Path, read_only: Callable[[Path], Path]
) -> None:
    with Desk(where) as desk:
        Dossiers(desk).add(ANN, Dossiers(desk).create(ANN, "Kept").id, [sentence("before")])
        back_up_desk(desk, tmp_path / "backup")
        Dossiers(desk).create(ANN, "Later")
        backup = read_only(tmp_path / "backup")
        restore_desk(backup, desk)
        assert texts(desk) == ["before"]
    assert list(backup.parent.iterdir()) == [backup]


def test_a_backup_of_an_older_version_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backup = tmp_path / "backup"
    with Desk(str(tmp_path / "desk")) as old:
        back_up_desk(old, backup)
    before = backup.read_bytes()
    monkeypatch.setattr(tables, "MIGRATIONS", [lambda connection: None])
    with Desk(str(tmp_path / "new")) as new:
        restore_desk(backup, new)
        assert Dossiers(new).list_readable(ANN) == []
    assert backup.read_bytes() == before


def test_a_damaged_backup_is_reported_by_its_name(tmp_path: Path, read_only: Callable[[Path], Path]) -> None:
    (tmp_path / "backup").write_bytes(b"no database at all" * 99)
    with (
        Desk(str(tmp_path / "desk")) as desk,
        pytest.raises(DeskUnusable, match=r"medium/backup .*not a database"),
    ):
        restore_desk(read_only(tmp_path / "backup"), desk)


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "desk").write_bytes(b"no database at all" * 99)
    with Desk(str(tmp_path / "desk")) as desk, pytest.raises(DeskUnusable, match="not a database"):
        Dossiers(desk).list_readable(ANN)


def test_an_unreachable_server_is_reported_without_its_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    address = f"postgresql://ann:geheim@/postgres?host={tmp_path}"
    with Desk(address) as desk, pytest.raises(DeskUnusable) as raised:
        Dossiers(desk).list_readable(ANN)
    assert "geheim" not in str(raised.value)


def test_a_backup_is_for_its_owner_alone_before_anything_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes, connect = set[int](), sqlite3.connect

    def note(path: str | Path, **options: object) -> sqlite3.Connection:
        modes.add(os.stat(path).st_mode & 0o777)
        return connect(path, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", note)
    with Desk(str(tmp_path / "desk")) as desk:
        Dossiers(desk).create(ANN, "Secret")
        back_up_desk(desk, tmp_path / "backup")
    with Desk(str(tmp_path / "other")) as other:
        restore_desk(tmp_path / "backup", other)
        assert texts(other) == []
    assert modes == {0o600}
    with Desk(str(tmp_path / "desk")) as desk, pytest.raises(UsageError, match="there is no backup"):
        restore_desk(tmp_path / "none", desk)


def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    with open_desk(tmp_path / "desk") as desk:
        Dossiers(desk).create(ANN, "Secret")
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_without_a_name_no_desk_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ESR_DESK", raising=False)
    with pytest.raises(UsageError, match="set ESR_DESK"):
        open_desk()


def test_the_place_of_a_desk_is_a_file_or_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESR_DESK", f" {tmp_path} ")
    assert find_desk() == str(tmp_path)
    for address in ("postgresql://db/esr", "postgres://db/esr"):
        assert find_desk(address) == address
    with pytest.raises(DeskUnusable, match="there is no desk at"):
        find_desk(tmp_path / "none")
    monkeypatch.setenv("HOME", str(tmp_path))
    with open_desk("~/desk.sqlite") as desk, desk.reading():
        assert find_desk("~/desk.sqlite") == "~/desk.sqlite"
        assert back_up_desk(desk, tmp_path / "backup.sqlite") > 0
    with pytest.raises(UsageError, match="it is a folder"):
        open_desk()
    for use, message in ((open_desk, r": file name too long$"), (find_desk, "there is no desk at")):
        with pytest.raises(DeskUnusable, match=message):
            use(tmp_path / ("x" * 300))


def test_the_secret_of_a_desk_is_long_and_stays_the_same(tmp_path: Path) -> None:
    with Desk(str(tmp_path / "desk")) as desk:
        secret = desk.secret()
        assert len(secret) >= 64 and desk.secret() == secret
    with Desk(str(tmp_path / "desk")) as desk, Desk(str(tmp_path / "other")) as other:
        assert desk.secret() == secret != other.secret()


def create_and_list(where: str) -> None:
    with Desk(where) as desk:
        Dossiers(desk).create(ANN, "Elsewhere")
        print(sorted(summary.name for summary in Dossiers(desk).list_readable(ANN)))


@pytest.mark.slow
def test_what_a_process_with_two_open_desks_writes_is_there_for_others(tmp_path: Path) -> None:
    where = str(tmp_path / "desk.sqlite")
    with Desk(where) as desk:
        Dossiers(desk).create(ANN, "First")
        with Desk(where):
            assert ForkedProcess(create_and_list, where).finish() == "['Elsewhere', 'First']\n"
        Dossiers(desk).create(ANN, "Later")
        both = "['Elsewhere', 'Elsewhere', 'First', 'Later']\n"
        assert ForkedProcess(create_and_list, where).finish() == both


def write_until_killed(where: str, name: str, acknowledged: str) -> None:
    """Add sentences one by one, and note each in a file after it is acknowledged."""
    with Desk(where) as desk, open(acknowledged, "ab", buffering=0) as file:
        store = Dossiers(desk)
        id = store.list_readable(ANN)[0].id
        for number in range(10**6):
            text = f"{name} {number}"
            (item,) = store.add(ANN, id, [sentence(text)]).items
            file.write(f"{text}\n".encode())
            store.edit(ANN, id, item.id, Edit(note=text, tags=(text,)))
            if number % 5 == 4:
                store.remove(ANN, id, [item.id])
                file.write(f"-{text}\n".encode())


def read_acknowledged(paths: Iterator[Path]) -> tuple[set[str], set[str]]:
    """The sentences that were added, and those of them that were removed."""
    lines = [line for path in paths for line in path.read_text().splitlines()]
    removed = {line[1:] for line in lines if line.startswith("-")}
    return {line for line in lines if not line.startswith("-")}, removed


@pytest.mark.endurance
@pytest.mark.slow
def test_what_is_acknowledged_outlives_kills_at_any_moment(tmp_path: Path) -> None:
    where = str(tmp_path / "desk.sqlite")
    with Desk(where) as desk:
        Dossiers(desk).create(ANN, "Kept")
    chance = random.Random(7)
    for turn in range(rounds(100)):
        notes = [tmp_path / f"{turn}-{name}" for name in "ab"]
        writers = [
            ForkedProcess(write_until_killed, where, f"{turn}{note.name[-1]}", str(note)) for note in notes
        ]
        deadline = time.monotonic() + 60
        while not all(note.exists() and note.stat().st_size for note in notes):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.2))
        for writer in chance.sample(writers, 2):
            writer.kill()
        with closing(sqlite3.connect(where)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with Desk(where) as desk:
            store = Dossiers(desk)
            (summary,) = store.list_readable(ANN)
            items = {item.text: item for item in store.read(ANN, summary.id).items}
            added, removed = read_acknowledged(note for note in notes)
            assert added - removed <= set(items) | _unnoted(items, added, store, summary.id)
            assert not removed & set(items)
            assert all(
                item.note in ("", item.text) and item.tags == ((item.note,) if item.note else ())
                for item in items.values()
            )
            versions = [change.version for change in store.history(ANN, summary.id)]
            assert versions == list(range(summary.version, 0, -1)), "a change is logged once"
            held = store.find_holding(ANN, list(items))
            assert set(held) == set(items)
            store.remove(ANN, summary.id, [item.id for item in items.values()])


def _unnoted(items: object, added: set[str], store: Dossiers, id: str) -> set[str]:
    """What the log says was removed: the kill came between the removal and its note."""
    log = [change for change in store.history(ANN, id) if change.action == "remove"]
    states = {text for change in log[:2] for text in _texts_before(store, id, change.version)}
    return states & added


def _texts_before(store: Dossiers, id: str, version: int) -> set[str]:
    before = {item.text for item in store.read(ANN, id, version - 1).items}
    return before - {item.text for item in store.read(ANN, id, version).items}


def test_a_desk_is_not_made_in_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        open_desk(os.fspath(tmp_path / "no" / "desk"))
