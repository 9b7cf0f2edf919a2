"""Indexes that earlier versions made are searched or migrated: tests/data/indexes has one of each format."""

from __future__ import annotations

import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from esr.errors import IndexUnusable
from esr.folder.format import manifest
from esr.index.factory import open_generations, open_migration
from esr.index.writer import LoadOptions
from esr.loaders import read_documents
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from tests.support.elasticsearch import load
from tests.support.index_contents import documents
from tests.support.stored_enrichment import read_enrichment
from tools.index_fixture import INDEXES, PROJECT, fixture

ARTICLES = PROJECT / "examples" / "articles.jsonl"
KEPT = sorted((PROJECT / INDEXES).glob("*.tar.gz"))
QUERY = "earthquake relief china"


@pytest.fixture(
    params=[(file, later) for file in KEPT for later in (False, True)],
    ids=lambda param: param[0].name.partition(".")[0] + ("-later" if param[1] else ""),
)
def older(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index folder as an earlier version left it, for this version and for one with a later format."""
    file, is_later = request.param
    if is_later:
        monkeypatch.setattr(manifest, "FORMAT", manifest.FORMAT + 1)
    with tarfile.open(file) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "index"


def articles() -> list[Document]:
    return [located.document for located in read_documents([str(ARTICLES)])]


def is_current(commit: manifest.Manifest) -> bool:
    return commit.format == manifest.FORMAT and commit.description.is_current


def migrate(where: Path) -> None:
    """Bring it to this format and analyzer, if it has others: a search says so."""
    if is_current(manifest.read_any_format(where)):
        return
    with pytest.raises(IndexUnusable, match="run esr migrate"):
        open_searcher(str(where))
    open_migration(str(where), LoadOptions()).run()


def test_it_has_its_documents_and_answers_as_a_new_one(older: Path, tmp_path: Path) -> None:
    migrate(older)
    load(str(tmp_path / "new"), articles(), analyzer="english-stem")
    assert [document.id for document in documents(str(older))] == [document.id for document in articles()]
    answers = []
    for where in (older, tmp_path / "new"):
        with open_searcher(str(where)) as searcher:
            answers.append([(hit.sentence_id, hit.score) for hit in searcher.search(QUERY, k=50).hits])
    assert answers[0] == answers[1] != []


def test_it_keeps_its_enrichment(older: Path) -> None:
    """Numbers that spaCy and the lexica of that day gave: they are stored, and are not computed again."""
    migrate(older)
    with open_searcher(str(older)) as searcher:
        parts = {part["part"]: part["documents"] for part in searcher.index.status()["enrichment"]}
        enrichment = read_enrichment(searcher.index, articles())
    assert parts == {"features": 12, "entities": 12, "parse": 12}
    assert sum(len(found["entities"]) for found in enrichment.values()) == 17
    assert all(found["features"] and found["parse"] for found in enrichment.values())


def test_the_older_version_can_be_gone_back_to(older: Path) -> None:
    before = manifest.read_any_format(older)
    migrate(older)
    with closing(open_generations(str(older))) as at:
        if not is_current(before):
            at.rollback()
    assert manifest.read_any_format(older).segments == before.segments
    assert manifest.read_any_format(older).format == before.format


def test_one_of_each_released_format_is_kept() -> None:
    """0.1.0, the first release, has format 5."""
    assert [PROJECT / fixture(format) for format in range(5, manifest.FORMAT + 1)] == KEPT
