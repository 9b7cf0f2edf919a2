import random

import pytest

from esr.loaders.duplicates import FEATURE, POLICIES, DuplicateFilter
from esr.loaders.ids import KeyStore
from esr.text.document import Document, Located, Sentence

WORDS = [f"word{n}" for n in range(500)]


def text(seed: int, size: int = 200) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def located(id: str, text: str, title: str | None = None) -> Located:
    return Located(f"x:{id}", Document(id, (Sentence(f"{id}.s0", text),), title=title))


def changed(words: str, count: int) -> str:
    """The words with the first ones replaced."""
    return " ".join([*(f"other{n}" for n in range(count)), *words.split()[count:]])


def run_filter(policy: str, *documents: Located) -> tuple[list[str], DuplicateFilter]:
    duplicates = DuplicateFilter(policy)
    return [located.document.id for located in duplicates.filter(documents)], duplicates


SAME = (
    located("a", text(1)),
    located("b", text(2)),
    located("c", text(1).upper().replace(" ", ",  ")),
    located("d", changed(text(2), 5)),
    located("e", changed(text(2), 100)),
)


@pytest.mark.parametrize("policy", ["count", "mark", "drop"])
def test_exact_and_near_duplicates_are_counted_and_dropped_only_on_request(policy):
    ids, duplicates = run_filter(policy, *SAME)
    assert (duplicates.exact, duplicates.near) == (1, 1)
    assert duplicates.examples == ["c at x:c repeats a", "d at x:d repeats b"]
    assert ids == (["a", "b", "e"] if policy == "drop" else ["a", "b", "c", "d", "e"])
    assert duplicates.notes()[0].startswith("1 documents repeat an earlier one word for word, and 1 nearly")


def test_the_file_of_digests_is_closed_when_all_documents_have_been_read(monkeypatch):
    closed = []
    monkeypatch.setattr(KeyStore, "close", lambda self: closed.append(self._database.close()))
    run_filter("count", *SAME)
    assert len(closed) == 1


def test_marked_sentences_have_the_similarity_as_a_feature():
    marked = list(DuplicateFilter("mark").filter(SAME))
    marks = [m.document.sentences[0].features.get(FEATURE) for m in marked]
    assert marks[0] is marks[1] is marks[4] is None
    assert marks[2] == 1.0
    assert 0.8 <= marks[3] < 1.0


def test_counting_changes_no_document():
    assert list(DuplicateFilter("count").filter(SAME)) == list(SAME)


def test_short_texts_must_have_the_same_title_and_the_same_words():
    ids, duplicates = run_filter(
        "drop",
        located("a", "Blah blah blah.", "Ferry"),
        located("b", "Blah blah blah.", "Harbour"),
        located("c", "Blah, blah, blah", "FERRY"),
        located("d", "Blah blah.", "Ferry"),
    )
    assert ids == ["a", "b", "d"] and (duplicates.exact, duplicates.near) == (1, 0)


def test_documents_without_words_are_not_duplicates():
    ids, _ = run_filter("drop", located("a", ""), located("b", "…"), located("c", "…"))
    assert ids == ["a", "b", "c"]


def test_the_notes_also_report_no_duplicates():
    assert run_filter("drop", located("a", text(1)))[1].notes() == ["no document repeats an earlier one"]


def test_near_duplicates_are_found_in_a_window_and_exact_ones_everywhere(monkeypatch):
    monkeypatch.setattr("esr.loaders.duplicates.NEAR_WINDOW", 3)
    others = [located(f"o{n}", text(100 + n)) for n in range(3)]
    ids, duplicates = run_filter(
        "drop", located("a", text(1)), *others, located("b", changed(text(1), 5)), located("c", text(1))
    )
    assert "b" in ids and "c" not in ids
    assert (duplicates.exact, duplicates.near) == (1, 0)
    assert len(duplicates._sketches) == 3


def test_near_duplicates_are_found_down_to_the_threshold():
    """Shingles of five words: k words changed at the front leave 196 - k of 196 + k in common."""
    near = dict.fromkeys((5, 60), 0)
    for seed in range(30):
        for k in near:
            _, duplicates = run_filter("drop", located("a", text(seed)), located("b", changed(text(seed), k)))
            near[k] += duplicates.near
    assert near[5] >= 29 and near[60] == 0


def test_every_policy_has_a_description():
    assert set(POLICIES) == {"keep", "count", "mark", "drop"}
