"""How changes of two people are joined, and where items stand after them."""

from __future__ import annotations

import pytest

from esr.dossiers.merging import arrange, merge_edit, merge_value, move
from esr.dossiers.records import NOTE_CHARS, Conflict, Edit, Item


def item(note: str = "", judgement: int | None = None) -> Item:
    return Item(
        id="i", version=1, added_by="ann", added_at="", document_id="a", text="Rain.", note=note,
        judgement=judgement,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "now", "new", "joined"),
    [
        ("old", "old", "new", "new"),
        ("old", "now", "old", "now"),
        ("", "by Ann", "by Bob", "by Ann\n\nby Bob"),
        ("old", "", "new", "new"),
        ("old", "now", "", "now"),
        ("old", "now", "now and new", "now and new"),
        ("old", "now and new", "new", "now and new"),
        (None, "now", "new", "now\n\nnew"),
        (None, "now", "now", "now"),
    ],
)
def test_a_note_has_what_both_have_written(before: str | None, now: str, new: str, joined: str) -> None:
    base = None if before is None else item(before)
    merged, fields = merge_edit(base, item(now), Edit(note=new))
    assert merged.note == joined
    assert fields == (("note",) if now not in (before, joined) else ())


def test_two_notes_that_are_too_long_together_are_a_conflict() -> None:
    new = "n" * (NOTE_CHARS - 5)
    assert len(merge_edit(item(), item("now"), Edit(note=new))[0].note) == NOTE_CHARS
    with pytest.raises(Conflict, match="changed the note"):
        merge_edit(item(), item("then"), Edit(note=new))


def test_a_judgement_of_an_unknown_base_is_a_conflict_unless_both_are_the_same() -> None:
    assert merge_edit(None, item(judgement=2), Edit(judgement=2))[0].judgement == 2
    with pytest.raises(Conflict):
        merge_edit(None, item(judgement=2), Edit(judgement=3))


def test_a_name_that_one_changed_is_taken_and_two_are_a_conflict() -> None:
    assert merge_value("name", "old", "old", "new") == "new"
    assert merge_value("name", "old", "now", "old") == "now"
    assert merge_value("name", "old", "new", "new") == "new"
    assert merge_value("name", None, "now", "now") == "now"
    with pytest.raises(Conflict, match="to 'now'"):
        merge_value("name", None, "now", "new")
    with pytest.raises(Conflict, match="to 'now'"):
        merge_value("name", "old", "now", "new")


@pytest.mark.parametrize(
    ("moved", "after", "base", "order"),
    [
        ("d", None, None, "dabc"),
        ("ba", "c", None, "cbad"),
        ("bxb", "a", None, "abcd"),
        ("a", "d", "abcd", "bcda"),
        ("a", "y", "abycd", "bacd"),
        ("d", "y", "yabcd", "dabc"),
        ("a", "z", "abcd", "bcda"),
        ("a", "z", None, "bcda"),
        ("abcd", "y", "yabcd", "abcd"),
        ("abcd", "z", None, "abcd"),
        ("b", "b", None, "abcd"),
    ],
)
def test_items_are_moved_behind_another_or_behind_what_stood_before_it(
    moved: str, after: str | None, base: str | None, order: str
) -> None:
    assert "".join(move("abcd", moved, after, base)) == order


@pytest.mark.parametrize(
    ("wanted", "order"), [("cb", "acdb"), ("dcba", "dcba"), ("xbbc", "abcd"), ("", "abcd"), ("a", "abcd")]
)
def test_an_order_keeps_what_it_does_not_name_behind_the_one_before(wanted: str, order: str) -> None:
    assert "".join(arrange("abcd", wanted)) == order
