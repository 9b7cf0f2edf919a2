"""What a load and its dry run say about the documents that came."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esr.cli import source_summary
from esr.cli.source_summary import SourceSummary
from esr.documents import Document, Sentence
from tests.cli.conftest import Esr

LINES = [
    "1 have a title, 3 a date, 4 a source, 3 a language",
    "languages: en 2, unknown 2, de 1",
    "dates: 2016-12-31 to 2017-03",
    "sources: x.org 3, y.org 1",
]


@pytest.fixture
def news(tmp_path: Path) -> Path:
    documents = [
        {
            "id": "a",
            "title": "T",
            "date": "2017-03-15",
            "source": "x.org",
            "language": "en",
            "text": "One. Two.",
        },
        {"id": "b", "date": "2017-03", "source": "x.org", "language": "en-GB", "text": "Three."},
        {"id": "c", "date": "2016-12-31T20:00:00Z", "source": "y.org", "language": "de", "text": "Vier."},
        {"id": "d", "source": "x.org"},
        {"id": "e", "text": "Five."},
    ]
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def test_a_load_ends_with_what_came_as_its_dry_run_says(esr: Esr, news: Path, tmp_path: Path) -> None:
    loaded = esr("load", news, "--index", tmp_path / "i").stdout.splitlines()
    assert loaded[-4:] == LINES
    previewed = esr("load", news, "--dry-run").stdout.splitlines()
    start = previewed.index("5 documents with 5 sentences") + 1
    assert previewed[start : start + 4] == LINES


def test_json_has_the_same_keys_in_a_load_and_its_dry_run(esr: Esr, news: Path, tmp_path: Path) -> None:
    loaded = json.loads(esr("load", news, "--index", tmp_path / "i", "--json").stdout)
    previewed = json.loads(esr("load", news, "--dry-run", "--json").stdout)
    for data in (loaded, previewed):
        assert data["languages"] == {"en": 2, "": 2, "de": 1}
        assert data["dates"] == {"from": "2016-12-31T20:00:00Z", "to": "2017-03"}
        assert data["sources"] == {"x.org": 3, "y.org": 1}
        assert [data[name] for name in ("documents", "sentences", "without_sentences", "title")] == [
            5,
            5,
            1,
            1,
        ]


def document(number: int, source: str | None = None) -> Document:
    return Document(str(number), (Sentence(f"{number}.s0", "x"),), source=source)


def test_what_no_document_has_is_not_mentioned() -> None:
    summary = SourceSummary()
    assert summary.lines() == []
    summary.add(document(1))
    assert summary.lines() == ["0 have a title, 0 a date, 0 a source, 0 a language"]


def test_the_most_frequent_sources_are_named_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_summary, "_MAX_SOURCES", 6)
    summary = SourceSummary()
    for n, source in enumerate([*"aabcdefgha"]):
        summary.add(document(n, source))
    assert summary.lines()[-1] == "sources: a 3, b 1, c 1, d 1, e 1, others 3"
    assert len(summary.as_dict()["sources"]) == 6 and summary.as_dict()["other_sources"] == 2
