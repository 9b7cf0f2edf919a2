"""`esr export`: its output makes the same index again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esr import loaders
from esr.documents import Document
from esr.documents.serialisation import checksum, to_fields, to_json_line
from esr.documents.validate import build_document
from tests.cli.conftest import Esr
from tests.engines.test_parity import ARTICLES, random_documents
from tests.support.index_contents import index_contents

UNUSUAL = {
    "id": "u",
    "title": 'Überschwemmung\u2028 "Nord"',
    "date": "20240305T10:00:00,5+01:00",
    "source": "S",
    "url": "https://u.example/?a=1&b",
    "language": "de",
    "sentences": [
        {"text": "", "paragraph": 0, "features": {"subj": 0.1, "big": 1e300}},
        {
            "id": "given",
            "text": "A\tflood.",
            "parse": [{"word": "A", "head": 1}, {"word": "flood", "head": -1}],
        },
        {"text": "𝔘nicode", "features": {"b": -0.0, "a": 3}, "parse": []},
    ],
}


def corpus() -> list[Document]:
    articles = [located.document for located in loaders.read_documents([str(ARTICLES)], "auto")]
    return [
        *articles,
        *random_documents(0, 30, seed=1),
        build_document(UNUSUAL),
        build_document({"id": "bare"}),
    ]


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    from tests.support.elasticsearch import fresh

    if request.param == "embedded":
        yield str(tmp_path / "index")
        return
    with fresh(request.getfixturevalue("elasticsearch_url")) as where:
        yield where


def test_load_export_load_is_the_identity(esr: Esr, place: str, tmp_path: Path) -> None:
    source, out, second = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "second.jsonl"
    source.write_text("".join(to_json_line(document) + "\n" for document in corpus()))
    assert esr("load", source, "--index", place).exit_code == 0
    assert f"wrote {len(corpus())} documents to" in esr("export", place, "-o", out).stdout
    assert [located.document for located in loaders.read_documents([str(out)])] == corpus()
    before = index_contents(place)
    assert esr("load", out, "--index", place, "--if-exists", "replace").exit_code == 0
    assert index_contents(place) == before
    esr("export", place, "-o", second)
    assert second.read_bytes() == out.read_bytes()


def test_only_the_export_goes_to_standard_output(esr: Esr, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "text": "A storm. It passed."}\n')
    esr("load", source, "--index", tmp_path / "index")
    (only,) = esr("export", tmp_path / "index").stdout.splitlines()
    sentences = [{"text": "A storm.", "paragraph": 0}, {"text": "It passed.", "paragraph": 0}]
    assert json.loads(only) == {"id": "a", "sentences": sentences}


def test_a_failed_export_leaves_no_file(esr_error: Esr, tmp_path: Path) -> None:
    assert "there is no index" in str(esr_error("export", tmp_path / "none", "-o", tmp_path / "out.jsonl"))
    assert not (tmp_path / "out.jsonl").exists()


def test_a_checksum_covers_every_field_and_nothing_else() -> None:
    document = build_document(UNUSUAL)
    assert checksum(build_document(json.loads(json.dumps(UNUSUAL)))) == checksum(document)
    reordered = to_fields(document)
    reordered["sentences"][2]["features"] = {"a": 3.0, "b": -0.0}
    assert checksum(build_document(reordered)) == checksum(document), "the order of features is none"
    checksums = {checksum(document)}
    for change in (
        {"title": "T"},
        {"date": None},
        {"source": "T"},
        {"sentences": UNUSUAL["sentences"][:2]},  # type: ignore[index]
        {"sentences": [{"text": "", "features": {"subj": 0.2, "big": 1e300}}, *UNUSUAL["sentences"][1:]]},  # type: ignore[misc]
    ):
        checksums.add(checksum(build_document({**UNUSUAL, **change})))
    assert len(checksums) == 6
