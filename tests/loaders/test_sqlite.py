"""Databases of SQLite, read without running anything that they contain."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, Remark, read_documents
from esr.text.document import Document
from tests.loaders.conftest import texts
from tests.support.samples import sample


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "news.db")) as opened:
        yield opened


def read(folder: Path, remarks: list[Remark] | None = None) -> list[Document]:
    options = ReadOptions(on_remark=(remarks if remarks is not None else []).append)
    return [located.document for located in read_documents([str(folder)], options=options)]


def test_each_row_of_a_table_with_texts_is_a_document(load: Callable[..., list[Document]]) -> None:
    first, second = load(sample("sqlite"))
    assert (first.id, first.title, first.date) == ("s1", "Ferry back in service", "2024-01-15")
    assert texts(first) == ["The ferry sails again.", "It was full."]
    assert texts(second) == ["The harbour stays closed."]


def test_tables_without_texts_are_named_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "news.db").write_bytes(sample("sqlite"))
    remarks: list[Remark] = []
    assert len(read(tmp_path, remarks)) == 2
    assert any("'settings'" in remark.text for remark in remarks)


def test_only_ordinary_tables_are_read(tmp_path: Path, database: sqlite3.Connection) -> None:
    database.executescript(
        """
        CREATE TABLE news (id TEXT, text TEXT, hex TEXT GENERATED ALWAYS AS (hex(zeroblob(1000))));
        INSERT INTO news (id, text) VALUES ('a', 'A ferry sails.');
        CREATE VIEW endless (id, text) AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
            SELECT n, 'x' FROM c;
        """
    )
    (document,) = read(tmp_path)
    assert document.id == "a" and not document.metadata


def test_changes_that_are_not_in_the_file_are_an_error(tmp_path: Path, database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE news (id TEXT, text TEXT)")
    database.execute("INSERT INTO news VALUES ('a', 'A ferry sails.')")
    database.commit()
    with pytest.raises(InputError, match=r"has changes in news\.db-wal"):
        list(read_documents([str(tmp_path / "news.db")]))


def test_a_file_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "news.db").write_bytes(sample("sqlite"))
    read(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["news.db"]


def test_a_broken_database_is_one_message(load_error: Callable[..., str]) -> None:
    data = sample("sqlite")
    assert "broken SQLite" in load_error(data[:100] + b"\xff" * (len(data) - 100), "sqlite")


def test_pictures_are_left_out_and_bytes_of_text_are_read(
    tmp_path: Path, database: sqlite3.Connection
) -> None:
    database.execute("CREATE TABLE news (id INTEGER, text BLOB, picture BLOB)")
    database.execute("INSERT INTO news VALUES (7, ?, ?)", (b"A ferry sails.", b"\x89PNG\xff"))
    database.commit()
    (document,) = read(tmp_path)
    assert document.id == "7" and texts(document) == ["A ferry sails."] and not document.metadata
