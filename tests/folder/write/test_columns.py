"""The columns of a segment, compared with plain counting."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.errors import EsrError
from esr.folder.format import manifest
from esr.folder.format.segment import COUNT_BITS, POSTINGS, unpack
from esr.folder.format.strings import BlobTable
from esr.folder.write import columns as write_columns
from esr.folder.write import segment_writer
from esr.folder.write.columns import TokenizedTexts, build_columns
from tests.support.folder_index import document, file_contents, load

TERMS = 7


def random_documents(seed: int) -> list[list[list[int]]]:
    """Documents as the terms of their sentences, then of their title."""
    rng = random.Random(seed)

    def text() -> list[int]:
        return [rng.randrange(TERMS - 1) for _ in range(rng.randrange(6))]

    return [[text() for _ in range(rng.randrange(5) + 1)] for _ in range(rng.randrange(5))]


def built(documents: list[list[list[int]]]) -> dict[str, list[float]]:
    texts = [text for document in documents for text in document]
    tokens = [term for text in texts for term in text]
    tokenized = TokenizedTexts(
        np.array(tokens, np.int32),
        np.array([len(text) for text in texts], np.int32),
        np.array([len(document) - 1 for document in documents], np.int64),
    )
    built = build_columns(tokenized, TERMS)
    numbers, counts = unpack(built.pop(POSTINGS), int(built.pop(COUNT_BITS)[0]))
    return {name: column.tolist() for name, column in built.items()} | {
        "sentence_numbers": numbers.tolist(),
        "sentence_counts": counts.tolist(),
    }


def counted(documents: list[list[list[int]]]) -> dict[str, list[float]]:
    """The same, without numpy."""
    sentences = [(n, p) for n, document in enumerate(documents) for p in range(len(document) - 1)]
    in_sentence = [Counter(documents[n][p]) for n, p in sentences]
    in_document = [Counter(term for text in document for term in text) for document in documents]
    around = [
        Counter(
            term for text in documents[n][max(p - 1, 0) : min(p + 2, len(documents[n]) - 1)] for term in text
        )
        for n, p in sentences
    ]

    def likelihood(contexts: list[Counter[int]]) -> list[float]:
        logs = [
            {term: count * math.log(context[term] / context.total()) for term, count in sorted(own.items())}
            for own, context in zip(in_sentence, contexts, strict=True)
        ]
        return [sum(by_term.values()) for by_term in logs]

    def postings(kind: str, places: list[Counter[int]]) -> dict[str, list[float]]:
        lists = [[(n, c[term]) for n, c in enumerate(places) if term in c] for term in range(TERMS)]
        return {
            f"{kind}_starts": [0, *accumulate(map(len, lists))],
            f"{kind}_numbers": [n for postings in lists for n, _ in postings],
            f"{kind}_counts": [c for postings in lists for _, c in postings],
        }

    return {
        **postings("sentence", in_sentence),
        **postings("document", in_document),
        "occurrences": [sum(own[term] for own in in_sentence) for term in range(TERMS)],
        "length": [own.total() for own in in_sentence],
        "surrounding_length": [own.total() for own in around],
        "document_length": [own.total() for own in in_document],
        "document": [n for n, _ in sentences],
        "first": [0, *accumulate(len(document) - 1 for document in documents)],
        "document_likelihood": likelihood([in_document[n] for n, _ in sentences]),
        "surrounding_likelihood": likelihood(around),
    }


@pytest.mark.parametrize("chunk_keys", [1, 5, 2**17])
def test_columns_are_what_counting_gives(monkeypatch: pytest.MonkeyPatch, chunk_keys: int) -> None:
    monkeypatch.setattr(write_columns, "_CHUNK_KEYS", chunk_keys)
    for seed in range(60):
        documents = random_documents(seed)
        actual, expected = built(documents), counted(documents)
        assert actual.keys() == expected.keys()
        for name, column in expected.items():
            assert actual[name] == pytest.approx(column), (seed, name)


# A segment has the terms of its own documents only, and is committed only if it can be read unchanged.


NEWS = [document(f"n{n}", f"storm number {n}") for n in range(5)]


def test_a_document_that_is_read_back_differently_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, NEWS[:1])
    before = file_contents(where)
    save = BlobTable.save

    def save_damaged(folder: Path, name: str, blobs: list[bytes]) -> None:
        damaged = [*blobs[:-1], blobs[-1][:-1] + b"?"] if name == "texts" else blobs
        save(folder, name, damaged)

    monkeypatch.setattr(BlobTable, "save", save_damaged)
    with pytest.raises(
        EsrError, match=r"document 'n4' has another checksum when read back .*, nothing was committed"
    ):
        load(where, NEWS, if_exists="replace")
    assert file_contents(where) == before


def test_paragraphs_that_are_read_back_differently_stop_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = segment_writer.save_array

    def save_damaged(path: Path, column: Any) -> None:
        save(path, column + 1 if path.name == "paragraph.npy" else column)

    monkeypatch.setattr(segment_writer, "save_array", save_damaged)
    with pytest.raises(EsrError, match="other numbers of paragraphs when read back, nothing was committed"):
        load(where, NEWS)
    assert not where.exists()


def test_a_segment_with_fewer_documents_or_sentences_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer.SegmentBuilder, "sentence_count", 7)
    with pytest.raises(
        EsrError, match="5 documents and 5 sentences instead of 5 and 7, nothing was committed"
    ):
        load(where, NEWS)
    assert not where.exists()


TOKEN_BUFFER_NEWS = [document(f"n{n}", f"storm number {n}", "a river", title=f"title {n}") for n in range(6)]


def columns(where: Path) -> list[dict[str, bytes]]:
    folders = [where / "segments" / name for name in manifest.read_manifest(where).segments]
    return [
        {file.name: file.read_bytes() for file in folder.iterdir() if file.name != manifest.CHECKSUMS}
        for folder in folders
    ]


def test_a_document_that_is_set_aside_leaves_no_term(tmp_path: Path) -> None:
    duplicate = document("n1", "an earthquake", title="elsewhere")
    aside: list[str] = []
    load(
        tmp_path / "aside",
        [*TOKEN_BUFFER_NEWS[:3], duplicate, *TOKEN_BUFFER_NEWS[3:]],
        set_aside=lambda document, reason: aside.append(document.id),
    )
    load(tmp_path / "without", TOKEN_BUFFER_NEWS)
    assert aside == ["n1"]
    assert columns(tmp_path / "aside") == columns(tmp_path / "without")


def test_two_segments_share_a_batch(tmp_path: Path, small_segments: None) -> None:
    load(tmp_path / "index", TOKEN_BUFFER_NEWS)
    assert len(columns(tmp_path / "index")) == 6
    for segment, located in zip(columns(tmp_path / "index"), TOKEN_BUFFER_NEWS, strict=True):
        load(tmp_path / located.document.id, [located])
        assert [segment] == columns(tmp_path / located.document.id)
