"""Dossiers: what a person does is there, for those who may see it, and nothing that others do is lost."""

from __future__ import annotations

import pytest

from esr.dossiers.desk import Desk
from esr.dossiers.records import Conflict, Content, Edit, Highlight, Item, NoDossier, Person
from esr.dossiers.store import Dossiers
from esr.errors import UsageError

ANN, BOB = Person("ann"), Person("bob", frozenset({"politics"}))


@pytest.fixture
def dossiers(desk: Desk) -> Dossiers:
    return Dossiers(desk)


def sentence(number: int) -> Content:
    return Content(document_id="a", sentence_id=f"a#{number}", text=f"sentence {number}", title="A title")


def fill(dossiers: Dossiers, sentences: int = 3) -> tuple[str, list[Item]]:
    """A dossier of Ann, whom Bob helps, with some sentences."""
    id = dossiers.create(ANN, "Floods").id
    dossiers.share(ANN, id, "politics", "writer", is_group=True)
    return id, list(dossiers.add(ANN, id, map(sentence, range(sentences))).items)


def texts(dossiers: Dossiers, id: str) -> list[str]:
    return [item.text[-1] for item in dossiers.read(ANN, id).items]


def test_items_are_kept_with_their_texts_in_order(dossiers: Dossiers) -> None:
    id, _ = fill(dossiers)
    dossier = dossiers.read(BOB, id)
    assert [item.text for item in dossier.items] == ["sentence 0", "sentence 1", "sentence 2"]
    assert (dossier.name, dossier.owner, dossier.role) == ("Floods", "ann", "writer")
    assert dossier.items[0].added_by == "ann"


def test_what_is_there_is_not_added_again(dossiers: Dossiers) -> None:
    id, items = fill(dossiers)
    written = dossiers.add(BOB, id, [sentence(1), sentence(7), sentence(7)], after=items[0].id)
    assert written.known == (items[1].id,) and len(written.items) == 1
    assert texts(dossiers, id) == ["0", "7", "1", "2"]


def test_two_notes_written_at_once_are_both_kept(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    dossiers.edit(ANN, id, item.id, Edit(note="by Ann", tags=("a",)), base=item.version)
    written = dossiers.edit(BOB, id, item.id, Edit(note="by Bob", tags=("b",)), base=item.version)
    assert written.merged == ("note", "tags")
    changed = dossiers.read(ANN, id).items[0]
    assert (changed.note, changed.tags) == ("by Ann\n\nby Bob", ("a", "b"))


def test_an_edit_of_another_field_takes_nothing_back(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    dossiers.edit(ANN, id, item.id, Edit(note="by Ann"), base=item.version)
    mark = Highlight(0, 4, "key")
    written = dossiers.edit(BOB, id, item.id, Edit(note="", highlights=(mark,)), base=item.version)
    assert not written.merged
    assert (written.items[0].note, written.items[0].highlights) == ("by Ann", (mark,))


def test_a_tag_that_one_removes_and_another_kept_is_gone(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    (item,) = dossiers.edit(ANN, id, item.id, Edit(tags=("old, good", ""))).items
    dossiers.edit(ANN, id, item.id, Edit(tags=("good",)), base=item.version)
    (item,) = dossiers.edit(BOB, id, item.id, Edit(tags=("old", "good", "new")), base=item.version).items
    assert item.tags == ("good", "new")
    dossiers.edit(ANN, id, item.id, Edit(tags=("good", "new", "newer")), base=item.version)
    (item,) = dossiers.edit(BOB, id, item.id, Edit(tags=("new",)), base=item.version).items
    assert item.tags == ("new", "newer")


def test_two_judgements_of_a_sentence_are_a_conflict(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    dossiers.edit(ANN, id, item.id, Edit(judgement=2), base=item.version)
    with pytest.raises(Conflict) as raised:
        dossiers.edit(BOB, id, item.id, Edit(judgement=0), base=item.version)
    assert (raised.value.field, raised.value.current) == ("judgement", 2)


def test_items_are_moved_and_removed_at_once(dossiers: Dossiers) -> None:
    id, items = fill(dossiers, 5)
    base = dossiers.read(ANN, id).version
    dossiers.remove(BOB, id, [items[3].id])
    dossiers.move(ANN, id, [items[0].id], after=items[3].id, base=base)  # behind what Bob has removed
    assert texts(dossiers, id) == ["1", "2", "0", "4"]
    dossiers.move(ANN, id, [items[4].id])
    dossiers.arrange(ANN, id, [items[2].id, items[1].id])
    assert texts(dossiers, id) == ["4", "2", "0", "1"]  # 0 stays behind 2


def test_a_removed_item_is_not_edited(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    dossiers.remove(BOB, id, [item.id])
    with pytest.raises(NoDossier, match="somebody has removed it"):
        dossiers.edit(ANN, id, item.id, Edit(note="too late"))


def test_every_change_is_logged_and_the_last_fifty_states_can_be_restored(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    for number in range(60):
        dossiers.edit(BOB, id, item.id, Edit(note=str(number)))
    log = dossiers.history(ANN, id)
    assert [change.action for change in log[-3:]] == ["add", "share", "create"]
    assert (log[0].who, log[0].action, log[0].detail) == ("bob", "edit", "note")
    assert [change.can_be_restored for change in log] == [True] * 51 + [False] * 12

    dossiers.remove(BOB, id, [item.id])
    old = log[49]
    assert dossiers.read(ANN, id, old.version).items[0].note == "10"
    restored = dossiers.restore(BOB, id, old.version)
    assert restored.version == log[0].version + 2
    assert dossiers.read(ANN, id).items[0].note == "10"
    assert dossiers.history(ANN, id)[0].action == "restore"
    assert dossiers.find_holding(ANN, ["a#0", "a#9"]) == {"a#0": [id]}
    for version in (2, 0, -1, 10**20):
        with pytest.raises(NoDossier, match="is not kept"):
            dossiers.restore(BOB, id, version)


def test_a_deleted_dossier_is_for_its_owner_to_restore(dossiers: Dossiers) -> None:
    id, _ = fill(dossiers)
    version = dossiers.read(ANN, id).version
    dossiers.delete(ANN, id)
    assert not dossiers.list_readable(ANN) and not dossiers.list_readable(BOB, is_deleted=True)
    with pytest.raises(NoDossier):
        dossiers.read(ANN, id)
    with pytest.raises(NoDossier):
        dossiers.restore(BOB, id, version)
    (deleted,) = dossiers.list_readable(ANN, is_deleted=True)
    assert deleted.deleted_at
    dossiers.restore(ANN, id, version)
    assert texts(dossiers, id) == ["0", "1", "2"]
    dossiers.erase(ANN, id)
    assert not dossiers.list_readable(ANN) and not dossiers.list_readable(ANN, is_deleted=True)


def test_what_no_database_stores_is_left_out_of_printed_texts(dossiers: Dossiers) -> None:
    id, _ = fill(dossiers)
    odd = Content(document_id="b", sentence_id="b#0", text="half \ud83d, null \0", authors=("A\0",))
    dossiers.add(ANN, id, [odd])
    item = dossiers.read(ANN, id).items[-1]
    assert (item.text, item.authors) == ("half ?, null ", ("A",))
    with pytest.raises(UsageError, match="half of a character"):
        dossiers.add(ANN, id, [Content(document_id="b\ud83d", text="x", kind="document")])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(note="x" * 20_001), "20,001 characters"),
        (Edit(tags=tuple(map(str, range(51)))), "at most 50 tags"),
        (Edit(highlights=(Highlight(5, 99),)), "from 5 to 99"),
        (Edit(judgement=11), "from -1 to 10"),
        (Edit(note="x\0"), "null character"),
        (Edit(tags=("\ud83d",)), "half of a character"),
    ],
)
def test_values_that_cannot_be_kept_are_refused(dossiers: Dossiers, edit: Edit, message: str) -> None:
    id, (item, *_) = fill(dossiers)
    with pytest.raises(UsageError, match=message):
        dossiers.edit(ANN, id, item.id, edit)
