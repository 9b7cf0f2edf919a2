"""What an item is beside the index as it is now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.dossiers.contents import read_clippings, read_contents
from esr.dossiers.readings import WITHHELD, Look, Reading, read_items
from esr.dossiers.records import Content, Item
from esr.errors import EngineUnreachable, NotFound, UsageError
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document, Quote, Sentence
from tests.support.elasticsearch import document, load
from tests.support.fake_index import FakeIndex

OLD = ("The river rose by two metres.", "Nobody was hurt.", "The minister promised aid on Monday.")
NEW = ("A correction came first.", "The river rose by three metres.", "Nobody was hurt.")


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    load(
        str(tmp_path / "index"), [document("a", *NEW, title="Floods"), document("b", "A storm.", "It went.")]
    )
    with open_searcher(str(tmp_path / "index")) as opened:
        yield opened


def item(text: str, number: int = 0, name: str = "a", kind: str = "sentence") -> Item:
    return Item(
        id=f"{name}{number}",
        version=1,
        added_by="ann",
        added_at="2026",
        kind=kind,  # type: ignore[arg-type]
        document_id=name,
        sentence_id=f"{name}.s{number}" if kind == "sentence" else "",
        text=text,
    )


def read(searcher: Searcher, *items: Item) -> list[Reading]:
    return read_items(items, lambda name: Look(searcher.index))


def test_a_corrected_sentence_is_shown_with_its_later_wording(searcher: Searcher) -> None:
    changed, moved, removed, gone = read(
        searcher, *(item(text, number) for number, text in enumerate(OLD)), item("Gone.", name="z")
    )
    assert (changed.status, changed.now, changed.sentence_id) == ("changed", NEW[1], "a.s1")
    assert changed.item is not None and changed.item.text == OLD[0]
    assert (moved.status, moved.now, moved.sentence_id) == ("same", "", "a.s2")
    assert (removed.status, gone.status) == ("removed", "removed")
    assert gone.item is not None and gone.item.text == "Gone."
    assert (changed.before, changed.after, moved.before, moved.after) == (NEW[0], NEW[2], NEW[1], "")
    (first,) = read(searcher, item(NEW[0]))
    assert (first.before, first.after, removed.before, removed.after) == ("", NEW[1], "", "")


@pytest.mark.parametrize(
    ("kept", "texts", "number", "expected"),
    [
        ("abcde", ("abcxy",), 0, ("changed", "a.s0")),  # three characters of five
        ("abcdefghijklm", ("abcdefghstuvwx",), 0, ("removed", "")),  # 16 of 27: less than 60 %
        ("abcde", ("abcdx", "abcdy"), 1, ("changed", "a.s1")),
        ("abcde", ("abcdx", "abcdy"), 7, ("changed", "a.s0")),
        ("abcde", ("abcde", "x", "abcde"), 2, ("same", "a.s2")),
        ("abcde", ("x", "abcde", "abcde"), 0, ("same", "a.s1")),
    ],
)
def test_a_later_wording_is_the_most_similar_sentence_and_in_its_old_place_if_two_are(
    kept: str, texts: tuple[str, ...], number: int, expected: tuple[str, str]
) -> None:
    class Stored(FakeIndex):
        def documents(self, *arguments: object, **more: object) -> list[Document]:  # type: ignore[override]
            return [document("a", *texts)]

    (reading,) = read_items([item(kept, number)], lambda name: Look(Stored()))
    assert (reading.status, reading.sentence_id) == expected


def test_a_document_is_the_same_while_all_its_sentences_are(searcher: Searcher) -> None:
    same, changed = read(
        searcher, item("A storm.\nIt went.", name="b", kind="document"), item("\n".join(OLD), kind="document")
    )
    assert (same.status, changed.status, changed.now) == ("same", "changed", "\n".join(NEW))


class Silent(FakeIndex):
    """An index whose engine does not respond."""

    def documents(self, *arguments: object, **more: object) -> list[Document]:  # type: ignore[override]
        raise EngineUnreachable("no answer")


@pytest.mark.parametrize(
    ("look", "status"),
    [
        (Look(None), "unknown"),
        (Look(Silent()), "unknown"),
        (WITHHELD, "withheld"),
        (Look(Silent(), True), "withheld"),
    ],
)
def test_what_nobody_can_look_up_is_shown_only_to_those_who_see_all(look: Look, status: str) -> None:
    (reading,) = read_items([item("Kept.")], lambda name: look)
    assert reading.status == status
    assert (reading.item is None) == (status == "withheld")


def test_contents_have_what_a_citation_needs(tmp_path: Path) -> None:
    quoted = (Quote(0, 9, "Lee", "ann lee", "said", "certain"), Quote(9, 12, "he", "bob", "said", "probable"))
    stored = Document(
        "a",
        (Sentence("a.s0", "“It rose”, said Lee.", quotes=quoted), Sentence("a.s1", "Then it fell.")),
        title="Floods",
        date="2017-03-05",
        source="Post",
        url="https://example.org/a",
        authors=("Ann",),
        section="North",
    )
    load(str(tmp_path / "index"), [stored])
    with open_searcher(str(tmp_path / "index")) as opened:
        first, second, whole = read_contents(
            opened.index, ["a.s0", "a.s1"], ["a"], name="news", address=lambda id, text: f"{id}:{text[:4]}"
        )
        with pytest.raises(NotFound, match="no document 'b' in news"):
            read_contents(opened.index, documents=["b"], name="news")
    assert (first.speaker, second.speaker) == ("Ann Lee", "")
    assert (first.permalink, whole.permalink) == ("a:“It ", "a:")
    assert whole.text == "“It rose”, said Lee.\nThen it fell." and whole.kind == "document"
    for content in (first, whole):
        about = (content.index, content.title, content.date, content.source, content.authors, content.section)
        assert about == ("news", "Floods", "2017-03-05", "Post", ("Ann",), "North")


def test_clippings_of_a_browser_are_contents() -> None:
    clipping = {"sentence_id": "a.s0", "text": "It rose.", "heading": "x", "speaker": None, "tags": ["t"]}
    (content,) = read_clippings([clipping], name="news")
    assert content == Content(
        index="news", document_id="a.s0", sentence_id="a.s0", text="It rose.", tags=("t",)
    )
    noted = {"sentence_id": "a.s0", "document_id": "a", "text": "x", "note": "n", "speaker": "Lee"}
    (content,) = read_clippings([{**noted, "tags": list(map(str, range(51)))}])
    assert (content.document_id, content.note, content.speaker) == ("a", "n", "Lee")
    assert len(content.tags) == 50, "a browser may keep more"
    with pytest.raises(UsageError, match="no clippings"):
        read_clippings([{"text": "x"}])
