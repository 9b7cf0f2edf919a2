"""The columns of a segment, compared with plain counting."""

from __future__ import annotations

import math
import random
from collections import Counter
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.errors import EsrError
from esr.folder.format import manifest, words
from esr.folder.format.files import check_file, decode_sealed
from esr.folder.format.segment import COUNT_BITS, POSTINGS, Segment, unpack
from esr.folder.format.strings import BlobTable
from esr.folder.write import merged_lists, merging, reduction, segment_writer
from esr.folder.write.batches import prepare
from esr.folder.write.delivery import EmbeddedDelivery
from esr.folder.write.merging import merge_segments
from esr.folder.write.segment_writer import SegmentWriter, TokenizedTexts, build_columns
from esr.index.writer import Description
from esr.text.document import Document, Located, ParseWord, Quote, Sentence
from tests.support.folder_index import document, file_contents, load
from tests.support.runs import examples

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
    monkeypatch.setattr(segment_writer, "CHUNK_KEYS", chunk_keys)
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


# A segment that is made of the columns of others has the files that a load of its documents writes.


def written(folder: Path, documents: list[Located], description: Description) -> Segment | None:
    """The segment of these documents; None without documents."""
    writer = SegmentWriter(folder, description)
    with closing(prepare(documents, description)) as prepared:
        for each in prepared:
            writer.add(each)
    writer.flush()
    return writer.segments[0] if writer.segments else None


def merged(folder: Path, parts: list[list[tuple[Located, bool]]], description: Description) -> Segment | None:
    """The segment of the documents that remain, made of a segment for each part."""
    sources = []
    for part in parts:
        segment = written(folder, [each for each, _ in part], description)
        if segment is not None:
            sources.append((segment, np.array([remains for _, remains in part], bool)))
    return merge_segments(folder, sources) if sources else None


def check_same_files(parts: list[list[tuple[Located, bool]]], description: Description) -> None:
    with TemporaryDirectory() as folder:
        expected = written(
            Path(folder, "a"), [d for part in parts for d, remains in part if remains], description
        )
        actual = merged(Path(folder, "b"), parts, description)
        assert (actual is None) == (expected is None)
        if actual is None or expected is None:
            assert not any(remains for part in parts for _, remains in part)
            return
        files, expected_files = file_contents(actual.folder), file_contents(expected.folder)
        checks = decode_sealed(files.pop(manifest.CHECKSUMS))
        del expected_files[manifest.CHECKSUMS]
        assert files.keys() == expected_files.keys() == checks.keys()
        assert [name for name in files if files[name] != expected_files[name]] == []
        assert {name: list(check_file(actual.folder / name)) for name in checks} == checks


TEXTS = [
    *("", "storm", "storm storm river", "A storm, a river!", "the river", "Naïve café", "İstanbul 𐐷𐐷 ﬀ"),
    *("中国和 news", "Ein Fluß und ein Sturm", "गंगा नदी", "?", "x " * 20),
]
LABELS: list[dict[str, Any]] = [
    {},
    {"source": "Wire", "language": "en", "date": "2017"},
    {"source": "Дзеркало", "language": "uk", "keywords": ("rain", "river"), "authors": ("Ann",)},
    {"source": "Wire", "date": "2017-02-07T10:30:00+01:00", "section": "World", "keywords": ("rain", "sun")},
    {
        "language": "de",
        "metadata": {"desk": "x", "place": {"city": ["Ohio", "Kyiv"]}},
        "url": "https://x.org",
    },
]
SKETCH = (
    st.tuples(  # texts of sentences, whether they have explicit ids, the title, labels, whether it remains
        st.lists(st.sampled_from(TEXTS), max_size=5),
        st.booleans(),
        st.sampled_from([None, *TEXTS]),
        st.sampled_from(LABELS),
        st.booleans(),
    )
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.lists(SKETCH, max_size=5), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from(["plain", "by-language"]),
    st.sampled_from([8, 2**17]),
    st.sampled_from([1, 16]),
)
def test_the_columns_of_segments_give_the_segment_of_the_documents_that_remain(
    sketches: list[list[Any]], title: bool, analyzer: str, chunk: int, many: int
) -> None:
    """Whether the columns are read in one part or in many, and however positions are shifted."""
    parts = [
        [
            (
                document(
                    f"d{n}-{m}",
                    *(Sentence(f"{m}.{n}:{i}", text) for i, text in enumerate(texts)) if explicit else texts,
                    title=of_title,
                    **labels,
                ),
                remains,
            )
            for m, (texts, explicit, of_title, labels, remains) in enumerate(sketch)
        ]
        for n, sketch in enumerate(sketches)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "CODE_CHUNK", chunk)
        patch.setattr(merging, "MANY_BORDERS", many)
        patch.setattr(merged_lists, "MANY_KEPT", many)
        patch.setattr(reduction, "CACHED_POSTINGS", chunk)
        patch.setattr(reduction, "MAX_RUNS", many - 1)
        check_same_files(parts, Description(analyzer, title))


def test_a_document_remains_of_a_segment_without_words() -> None:
    check_same_files([[(document("a", "?"), True), (document("b", "?"), False)]], Description("plain", True))


@pytest.mark.parametrize("removed", [(0, 3), (2, 290), (150, 299), (298, 300)])
def test_documents_without_terms_are_removed_by_numbers_that_no_posting_has(removed: tuple[int, int]) -> None:
    """Postings have the numbers of the first documents alone, in one byte each."""
    documents = [document(f"d{n}", "storm river" if n < 200 else "?") for n in range(300)]
    parts = [[(each, not removed[0] <= n < removed[1]) for n, each in enumerate(documents)]]
    check_same_files(parts, Description("plain", True))


@pytest.mark.parametrize("removed", [0, 1, 2])
def test_the_greatest_count_of_a_term_is_removed_or_remains(removed: int) -> None:
    texts = ["storm " * 9, "storm storm river", "storm"]
    parts = [[(document(f"d{n}", text), n != removed) for n, text in enumerate(texts)]]
    check_same_files(parts, Description("plain", True))


@pytest.mark.parametrize(("most", "is_reduced"), [(2, True), (1, False)])
def test_few_runs_of_documents_are_removed_without_unpacking_postings(
    monkeypatch: pytest.MonkeyPatch, most: int, is_reduced: bool
) -> None:
    reduced: list[bool] = []
    reduce = reduction.reduce_postings

    def note(*given: Any) -> Any:
        found = reduce(*given)
        reduced.append(found is not None)
        return found

    monkeypatch.setattr(merging, "reduce_postings", note)
    monkeypatch.setattr(reduction, "MAX_RUNS", most)
    texts = ["storm " * 4, *["storm storm river"] * 8]
    parts = [[(document(f"d{n}", text), n not in (1, 4, 5)) for n, text in enumerate(texts)]]
    check_same_files(parts, Description("plain", True))
    assert reduced == [is_reduced]


@pytest.mark.slow
def test_large_segments_merge_to_the_segment_of_the_documents_that_remain() -> None:
    """Sentence and term numbers need more than a byte; counts, positions and lists are of many sizes."""
    chance = random.Random(5)
    words = [f"{start}{n}" for n in range(500) for start in ("storm", "wörter", "реки", "中国")]
    weights = [1 / (n + 1) for n in range(len(words))]

    def sentence(id: str) -> Sentence:
        text = " ".join(chance.choices(words, weights, k=chance.choice([0, 1, 5, 9, 12, 12, 12, 300])))
        return Sentence(
            id,
            text,
            {"subj": chance.random()} if chance.random() < 0.2 else {},
            (ParseWord("storm", -1),) if chance.random() < 0.1 else None,
            chance.choice([None, 0, 3, 300]),
            (Quote(0, 1, "Ann", "ann", "said"),) if text and chance.random() < 0.1 else (),
        )

    def drawn(id: str) -> Located:
        explicit = chance.random() < 0.3
        count = chance.choice([0, 1, 2, 3, 40])
        sentences = [sentence(f"x/{id}/{n}" if explicit else f"{id}.s{n}") for n in range(count)]
        labels = dict(chance.choice(LABELS)) | {
            "keywords": tuple({f"k{chance.randrange(99)}" for _ in range(3)})
        }
        return document(id, *sentences, title=chance.choice([None, "Storm 中国 storm0"]), **labels)

    parts = [
        [(drawn(f"d{n}-{m}"), chance.random() > 0.2) for m in range(count)]
        for n, count in enumerate((50, 30, 1))
    ]
    description = Description("multilingual", True)
    check_same_files(parts, description)
    check_same_files(parts[:1], description)


def test_a_delivery_decodes_only_documents_that_it_compares(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, NEWS)
    decoded, document_of = [], Segment.document

    def note(segment: Segment, number: int) -> Document:
        decoded.append(segment.document_ids[number])
        return document_of(segment, number)

    monkeypatch.setattr(Segment, "document", note)
    assert EmbeddedDelivery(where).append([document("n3", "A correction")]).changed == 1
    assert set(decoded) == {"n3"}


def test_a_merged_segment_that_is_read_back_differently_stops_the_delivery(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = merging.save_array

    def save_damaged(path: Path, column: Any) -> None:
        save(path, column)
        if path.name == "length.npy":
            path.write_bytes(path.read_bytes()[:-1] + b"?")

    parts = [[(each, each.document.id != "n1") for each in NEWS]]
    monkeypatch.setattr(merging, "save_array", save_damaged)
    with pytest.raises(EsrError, match=r"has another length\.npy when read back, nothing was committed"):
        merged(where, parts, Description("plain", True))
