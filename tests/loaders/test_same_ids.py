from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.documents import Document, Located, Sentence
from esr.documents.document import ParseWord
from esr.loaders.same_ids import POLICIES, SameIdFilter

SENTENCE = Sentence("a.s0", "A flood.")


def document(content: str, id: str = "a") -> Document:
    return Document(id, (Sentence(f"{id}.s0", content),))


def run(policy: str, *documents: Document) -> tuple[list[Document], list[str], list[str]]:
    """What the filter passes on, what it refuses, and its notes."""
    refused: list[str] = []
    stage = SameIdFilter(policy, lambda located, problem: refused.append(f"{located.where}: {problem}"))
    passed = list(stage.filter(Located(f"x:{n}", document) for n, document in enumerate(documents)))
    assert [int(where[2:]) for where, _ in passed] == sorted(int(where[2:]) for where, _ in passed)
    return [located.document for located in passed], refused, stage.notes()


@pytest.mark.parametrize("policy", POLICIES)
def test_documents_with_ids_of_their_own_pass_unchanged(policy: str) -> None:
    rich = Document(
        "b",
        (
            Sentence("b.s0", "Eins\u2028zwei\r.", {"subj": 0.1}, (ParseWord("Eins", -1),), paragraph=3),
            Sentence("own", "Zwei."),
        ),
        title="T\n",
        date="2026-03-02",
        source="S",
        url="https://example.com",
        language="de",
    )
    documents = [document("One."), rich, Document("empty", ())]
    assert run(policy, *documents) == (documents, [], [])


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_content_passes_once(policy: str) -> None:
    passed, refused, (note,) = run(policy, document("x"), document("y", "b"), document("x"), document("x"))
    assert passed == [document("x"), document("y", "b")]
    assert refused == []
    assert (
        note.startswith("2 documents repeat the id and the content of an earlier one") and "a at x:2" in note
    )


def test_other_content_is_refused_and_the_first_stays() -> None:
    passed, refused, notes = run("refuse", document("x"), document("y"), document("x"), document("z"))
    assert passed == [document("x")]
    assert [problem.partition(" with")[0] for problem in refused] == [
        f"x:{n}: document id 'a' is duplicated: first used at x:0" for n in (1, 3)
    ]
    assert len(notes) == 1


def test_the_last_content_replaces_those_before_it() -> None:
    passed, refused, (note,) = run("last", document("x"), document("", "b"), document("y"), document("x"))
    assert (passed, refused) == ([document("", "b"), document("x")], [])
    assert note.startswith("2 documents were replaced by a later one with the same id: the first is a at x:2")


def test_an_id_whose_documents_replaced_each_other_many_times_is_named() -> None:
    _, _, notes = run("last", document("x", "b"), *(document(f"{n}") for n in range(12)), document("y", "b"))
    assert notes[1:] == [
        "11 of them have the id 'a': if these are different documents, load them again with --id content"
    ]


@pytest.mark.parametrize(
    "other",
    [
        Document("a", (SENTENCE,), title="T"),
        Document("a", (SENTENCE,), source="T"),
        Document("a", (SENTENCE, SENTENCE)),
        Document("a", (Sentence("a.s0", "A flood."[:-1]),)),
        Document("a", (Sentence("own", "A flood."),)),
        Document("a", (Sentence("a.s0", "A flood.", {"subj": 1.0}),)),
        Document("a", (Sentence("a.s0", "A flood.", parse=(ParseWord("A", -1),)),)),
        Document("a", (Sentence("a.s0", "A flood.", paragraph=0),)),
    ],
    ids=["title", "source", "sentences", "text", "sentence id", "features", "parse", "paragraph"],
)
def test_every_part_of_a_document_is_content(other: Document) -> None:
    _, refused, _ = run("refuse", Document("a", (SENTENCE,)), other)
    assert len(refused) == 1


@pytest.mark.parametrize("values", [(-1.0, -2.0), (0.5, 0.25), (float(2**61 - 1), 0.0)])
def test_any_other_value_of_a_feature_is_other_content(values: tuple[float, float]) -> None:
    documents = (Document("a", (Sentence("a.s0", "A flood.", {"subj": value}),)) for value in values)
    assert len(run("refuse", *documents)[1]) == 1


def test_the_order_of_features_and_metadata_is_no_content() -> None:
    features, metadata = {"a": 1.0, "b": 2.0}, {"c": {"d": 2**80, "e": None}, "f": [True]}
    one = Document("a", (Sentence("a.s0", "A flood.", features),), metadata=metadata)
    reverse_features, reverse_metadata = (dict(reversed(table.items())) for table in (features, metadata))
    other = Document("a", (Sentence("a.s0", "A flood.", reverse_features),), metadata=reverse_metadata)
    assert run("refuse", one, other)[:2] == ([one], [])


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))))
def test_the_last_policy_loads_what_appending_one_by_one_would(entries: list[tuple[str, str]]) -> None:
    expected = {}
    for id, content in entries:
        expected[id] = document(content, id)
    passed, _, _ = run("last", *(document(content, id) for id, content in entries))
    assert {passed_document.id: passed_document for passed_document in passed} == expected
    assert len(passed) == len(expected)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_memory_does_not_grow_with_the_number_of_documents(policy: str) -> None:
    def peak(count: int) -> int:
        def documents() -> Iterator[Located]:
            for n in range(count):
                yield Located("x", document(f"text {n} " * 20, str(n // 2)))

        tracemalloc.start()
        try:
            for _ in SameIdFilter(policy, lambda located, problem: None).filter(documents()):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    assert peak(10_000) < 1.3 * peak(1_000) + 2**18
