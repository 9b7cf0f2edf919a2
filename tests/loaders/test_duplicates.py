import random

import pytest

from esr.documents import Document, Located, Sentence
from esr.loaders import duplicates
from esr.loaders.duplicates import FEATURE, HANDLING, Duplicates

WORDS = [f"word{n}" for n in range(500)]


def text(seed: int, size: int = 200) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def located(id: str, text: str, title: str | None = None) -> Located:
    return Located(f"x:{id}", Document(id, (Sentence(f"{id}.s0", text),), title=title))


def changed(words: str, count: int) -> str:
    """Some words in a row replaced."""
    return " ".join([*(f"other{n}" for n in range(count)), *words.split()[count:]])


def through(handling: str, *documents: Located) -> tuple[list[str], Duplicates]:
    found = Duplicates(handling)
    return [kept.document.id for kept in found.filtered(documents)], found


SAME = (
    located("a", text(1)),
    located("b", text(2)),
    located("c", text(1).upper().replace(" ", ",  ")),
    located("d", changed(text(2), 5)),
    located("e", changed(text(2), 100)),
)


@pytest.mark.parametrize("handling", ["count", "mark", "drop"])
def test_exact_and_near_copies_are_counted_and_left_out_only_on_request(handling):
    ids, found = through(handling, *SAME)
    assert (found.exact, found.near) == (1, 1)
    assert found.examples == ["c at x:c repeats a", "d at x:d repeats b"]
    assert ids == (["a", "b", "e"] if handling == "drop" else ["a", "b", "c", "d", "e"])
    assert found.notes()[0].startswith("1 documents repeat an earlier one to the word and 1 nearly")


def test_marked_sentences_have_a_feature_that_says_how_alike_they_are():
    kept = list(Duplicates("mark").filtered(SAME))
    marks = [k.document.sentences[0].features.get(FEATURE) for k in kept]
    assert marks[0] is marks[1] is marks[4] is None
    assert marks[2] == 1.0
    assert 0.8 <= marks[3] < 1.0


def test_counting_changes_no_document():
    assert list(Duplicates("count").filtered(SAME)) == list(SAME)


def test_short_texts_must_have_the_same_title_and_be_the_same_to_the_word():
    ids, found = through(
        "drop",
        located("a", "Blah blah blah.", "Ferry"),
        located("b", "Blah blah blah.", "Harbour"),
        located("c", "Blah, blah, blah", "FERRY"),
        located("d", "Blah blah.", "Ferry"),
    )
    assert ids == ["a", "b", "d"] and (found.exact, found.near) == (1, 0)


def test_documents_without_a_word_are_no_copies():
    ids, _ = through("drop", located("a", ""), located("b", "…"), located("c", "…"))
    assert ids == ["a", "b", "c"]


def test_nothing_found_is_said_too():
    assert through("drop", located("a", text(1)))[1].notes() == ["no document repeats an earlier one"]


def test_near_copies_are_looked_for_in_a_window_and_exact_ones_everywhere(monkeypatch):
    monkeypatch.setattr(duplicates, "NEAR_WINDOW", 3)
    others = [located(f"o{n}", text(100 + n)) for n in range(3)]
    ids, found = through(
        "drop", located("a", text(1)), *others, located("b", changed(text(1), 5)), located("c", text(1))
    )
    assert "b" in ids and "c" not in ids
    assert (found.exact, found.near) == (1, 0)
    assert len(found._sketches) == 3


def test_copies_are_found_as_similar_as_the_threshold_says():
    """Sets of five words in a row: k words changed at the front leave 196 - k of 196 + k in common."""
    found = dict.fromkeys((5, 60), 0)
    for seed in range(30):
        for k in found:
            _, both = through("drop", located("a", text(seed)), located("b", changed(text(seed), k)))
            found[k] += both.near
    assert found[5] >= 29 and found[60] == 0


def test_every_handling_is_described():
    assert set(HANDLING) == {"keep", "count", "mark", "drop"}
