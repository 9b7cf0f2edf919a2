"""Indices that earlier versions made are searched or migrated: tests/data/indexes has one of each version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from esr.elastic import meta
from esr.errors import IndexUnusable
from esr.folder.format import manifest
from esr.index.factory import open_generations, open_migration
from esr.index.questions import Summary
from esr.index.writer import LoadOptions
from esr.loaders import read_documents
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from tests.support.elasticsearch import fresh, load
from tests.support.index_contents import documents, read_enrichment, states
from tests.support.stored_indices import FOLDERS, import_export, list_exports_of_server, unpack_folder
from tools.index_fixture import PROJECT, fixture

pytestmark = pytest.mark.slow

ARTICLES = PROJECT / "examples" / "articles.jsonl"
QUERY = "earthquake relief china"


def stored_indices() -> Iterator[Any]:
    """Each for this version, folders also for one with a later format."""
    for file in FOLDERS:
        name = file.name.removesuffix(".tar.gz")
        yield pytest.param((file, False), id=name)
        yield pytest.param((file, True), id=f"{name}-later")
    for file in list_exports_of_server():
        name = file.name.removesuffix(".ndjson.gz")
        yield pytest.param((file, False), id=name, marks=pytest.mark.elasticsearch)


@pytest.fixture(params=stored_indices())
def stored(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An index as an earlier version left it."""
    file, is_later = request.param
    if is_later:
        monkeypatch.setattr(manifest, "FORMAT", manifest.FORMAT + 1)
    if file in FOLDERS:
        yield unpack_folder(file, tmp_path)
        return
    with fresh(request.getfixturevalue("elasticsearch_url")) as where:
        import_export(file, where)
        yield where


def articles() -> list[Document]:
    return [located.document for located in read_documents([str(ARTICLES)])]


def contents(document: Document) -> tuple[str, str, list[str]]:
    return document.id, document.title or "", [sentence.text for sentence in document.sentences]


def migrate_if_necessary(where: str) -> bool:
    """Bring it to this format and analyzer, if it has others: a search says so."""
    try:
        open_searcher(where).close()
    except IndexUnusable as error:
        assert "run esr migrate" in str(error)
        open_migration(where, LoadOptions()).run()
        return True
    return False


def test_a_stored_index_has_its_documents_and_answers_as_a_new_one(stored: str, tmp_path: Path) -> None:
    migrate_if_necessary(stored)
    load(str(tmp_path / "new"), articles(), analyzer="english-stem")
    assert sorted(map(contents, documents(stored))) == sorted(map(contents, articles()))
    answers = []
    for where in (stored, str(tmp_path / "new")):
        with open_searcher(where) as searcher:
            hits = searcher.search(QUERY, k=50).hits
        answers.append([(hit.sentence_id, pytest.approx(hit.score, rel=1e-4)) for hit in hits])
    assert answers[0] == answers[1] != []


def test_a_stored_index_keeps_its_enrichment(stored: str) -> None:
    """Numbers that spaCy and the lexica of that day gave: they are stored, and are not computed again."""
    migrate_if_necessary(stored)
    with open_searcher(stored) as searcher:
        parts = {part["part"]: part["documents"] for part in searcher.index.status(Summary())["enrichment"]}
        enrichment = read_enrichment(searcher.index, articles())
    assert parts == {"features": 12, "entities": 12, "parse": 12}
    assert sum(len(found["entities"]) for found in enrichment.values()) == 17
    assert all(found["features"] and found["parse"] for found in enrichment.values())


def test_a_migration_of_a_stored_index_can_be_taken_back(stored: str) -> None:
    if migrate_if_necessary(stored):
        assert states(stored) == ["serving", "kept"]
        with closing(open_generations(stored)) as generations:
            generations.rollback()
        with pytest.raises(IndexUnusable, match="run esr migrate"):
            open_searcher(stored)
        assert states(stored) == ["kept", "serving"]
    else:
        assert states(stored) == ["serving"]


def test_one_folder_of_each_released_format_is_stored() -> None:
    """0.1.0, the first release, has format 5."""
    formats = range(5, manifest.FORMAT + 1)
    assert {PROJECT / fixture(format) for format in formats} <= {*FOLDERS}
    assert meta.FORMAT >= 7
