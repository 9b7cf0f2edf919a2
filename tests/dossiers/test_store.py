"""Dossiers: what a person does is there, for those who may see it, and nothing that others do is lost."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import func, select

from esr.dossiers import tables
from esr.dossiers.desk import Desk
from esr.dossiers.records import (
    Conflict,
    Content,
    Edit,
    Highlight,
    Item,
    NoDossier,
    NotPermitted,
    Person,
    check_content,
)
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


def test_an_item_is_found_by_its_id(dossiers: Dossiers) -> None:
    id, items = fill(dossiers)
    dossier = dossiers.read(ANN, id)
    assert [dossier.item(item.id).text for item in items] == [item.text for item in items]
    with pytest.raises(NoDossier, match="the dossier 'Floods' has no item 'x'"):
        dossier.item("x")


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


def test_every_change_is_logged_and_the_last_fifty_states_can_be_restored(
    dossiers: Dossiers, desk: Desk
) -> None:
    id, (item, other, *_) = fill(dossiers)
    for number in range(60):
        dossiers.edit(BOB, id, item.id, Edit(note=str(number)))
    with desk.reading() as connection:
        count = select(func.count()).select_from(tables.item_versions)
        assert connection.scalar(count) == 51 + 2, "no other texts are kept"
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
    # An edit may begin from a version that is long past, if the item was the same until now.
    assert dossiers.edit(ANN, id, other.id, Edit(judgement=1), base=other.version).merged == ()
    for base in (other.version, 1, 0, 10**20):
        with pytest.raises(Conflict):
            dossiers.edit(BOB, id, other.id, Edit(judgement=2), base=base)
    version = dossiers.read(ANN, id).version
    assert dossiers.edit(ANN, id, other.id, Edit(judgement=1)).version == version, "nothing changes"


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


UNUSABLE = [
    (Edit(note="x" * 20_001), "20,001 characters"),
    (Edit(tags=("x" * 101,)), "101 characters"),
    (Edit(tags=tuple(map(str, range(51)))), "at most 50 tags"),
    (Edit(highlights=tuple(Highlight(0, 4, str(n)) for n in range(201))), "at most 200 highlights"),
    (Edit(highlights=(Highlight(0, 4, "x" * 101),)), "101 characters"),
    (Edit(highlights=(Highlight(5, 99),)), "from 5 to 99"),
    (Edit(highlights=(Highlight(0, 11),)), "from 0 to 11"),
    (Edit(highlights=(Highlight(-1, 4),)), "from -1 to 4"),
    (Edit(highlights=(Highlight(4, 4),)), "from 4 to 4"),
    (Edit(judgement=11), "from -1 to 10"),
    (Edit(judgement=-2), "from -1 to 10"),
    (Edit(judgement=2.5), "whole number"),  # type: ignore[arg-type]
    (Edit(judgement=True), "whole number"),
    (Edit(note="x\0"), "null character"),
    (Edit(tags=("\ud83d",)), "half of a character"),
]


def test_values_that_cannot_be_kept_are_refused(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    for edit, message in UNUSABLE:
        with pytest.raises(UsageError, match=message):
            dossiers.edit(ANN, id, item.id, edit)


def test_values_at_their_limits_are_kept(dossiers: Dossiers) -> None:
    id, (item, *_) = fill(dossiers)
    whole = tuple(Highlight(0, len(item.text), f"{n:0>100}") for n in range(200))
    tags = ("x" * 100, *(str(n) for n in range(49)))
    for judgement in (-1, 10):
        edit = Edit(note="x" * 20_000, tags=tags, highlights=whole[::-1], judgement=judgement)
        (changed,) = dossiers.edit(ANN, id, item.id, edit).items
        assert (changed.note, changed.tags) == (edit.note, tags)
        assert (changed.highlights, changed.judgement) == (whole, judgement), "in their order"
    dossiers.rename(ANN, id, name="n" * 200, description="d" * 20_000)
    for name in ("n" * 201, " "):
        with pytest.raises(UsageError):
            dossiers.rename(ANN, id, name=name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"document_id": ""}, "needs the id of its document"),
        ({"text": " \n"}, "and a text"),
        ({"sentence_id": ""}, "a sentence needs a sentence_id"),
        ({"kind": "document"}, "a document has no sentence_id"),
        ({"text": "x" * 1_000_001}, "text of an item has 1,000,001"),
        ({"url": "x" * 20_001}, "url of an item has 20,001"),
    ],
)
def test_contents_that_are_no_sentence_or_document_are_refused(change: dict[str, Any], message: str) -> None:
    longest = Content(document_id="a", sentence_id="a#1", text="x" * 1_000_000)
    assert check_content(longest) == longest
    with pytest.raises(UsageError, match=message):
        check_content(structs.replace(longest, **change))


def test_a_dossier_is_made_with_all_of_its_items_or_not_at_all(dossiers: Dossiers) -> None:
    made = dossiers.create(ANN, "Rivers", contents=[sentence(0), sentence(1), sentence(0)])
    assert [item.sentence_id for item in made.items] == [sentence(0).sentence_id, sentence(1).sentence_id]
    assert dossiers.read(ANN, made.id) == made and made.version == 1
    assert dossiers.find_holding(ANN, [sentence(1).sentence_id]) == {sentence(1).sentence_id: [made.id]}
    with pytest.raises(UsageError, match="at most 20,000"):
        dossiers.create(ANN, "Lakes", contents=[structs.replace(sentence(0), note="x" * 20_001)])
    assert [summary.name for summary in dossiers.list_readable(ANN)] == ["Rivers"]


def test_a_full_dossier_takes_no_more(dossiers: Dossiers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esr.dossiers.store.MOST_ITEMS", 3)
    id, _ = fill(dossiers, 2)
    dossiers.add(ANN, id, [sentence(2), sentence(0)])
    with pytest.raises(UsageError, match="at most 3 items"):
        dossiers.add(ANN, id, [sentence(3)])
    assert dossiers.list_readable(ANN)[0].items == 3


def test_a_name_and_a_description_are_changed_apart_and_one_name_by_two_is_a_conflict(
    dossiers: Dossiers,
) -> None:
    id, _ = fill(dossiers)
    base = dossiers.read(ANN, id).version
    dossiers.rename(ANN, id, description="of Monday", base=base)
    dossiers.rename(BOB, id, name="Rivers", base=base)
    dossier = dossiers.read(ANN, id)
    assert (dossier.name, dossier.description) == ("Rivers", "of Monday")
    assert [(each.action, each.detail) for each in dossiers.history(ANN, id)[:2]] == [
        ("rename", "Rivers"),
        ("rename", ""),
    ]
    with pytest.raises(Conflict, match="to 'Rivers'"):
        dossiers.rename(ANN, id, name="Lakes", base=base)
    first = dossiers.read(ANN, id, 1)
    assert (first.name, first.items, first.version) == ("Floods", (), 1)


def test_who_is_given_a_role_has_it_until_it_is_taken_away(dossiers: Dossiers) -> None:
    id, _ = fill(dossiers)
    eve, group = Person("eve"), Person("politics")
    dossiers.share(ANN, id, "eve", "reader")
    dossiers.share(ANN, id, "politics", "reader")  # an account that is called like the group
    assert (dossiers.read(group, id).role, dossiers.read(BOB, id).role) == ("reader", "writer")
    with pytest.raises(NotPermitted, match="you are a reader of this dossier, and may not change it"):
        dossiers.rename(eve, id, name="mine")
    dossiers.share(ANN, id, "eve", "writer")
    assert [summary.role for summary in dossiers.list_readable(eve)] == ["writer"]
    for refused in (dossiers.delete, dossiers.erase, lambda *who: dossiers.share(*who, "x", "reader")):
        with pytest.raises(NotPermitted):
            refused(eve, id)
    dossiers.share(ANN, id, "eve", None)
    assert dossiers.list_readable(eve) == []
    for read in (dossiers.read, dossiers.history, lambda *who: dossiers.read(*who, 1)):
        with pytest.raises(NoDossier):
            read(eve, id)
    dossiers.share(ANN, id, "*", "reader")
    assert (dossiers.read(eve, id).role, dossiers.read(BOB, id).role) == ("reader", "writer")
    with pytest.raises(UsageError, match="give it to make somebody the owner"):
        dossiers.share(ANN, id, "eve", "owner")
    dossiers.give(ANN, id, "eve")
    assert (dossiers.read(eve, id).role, dossiers.read(ANN, id).role) == ("owner", "writer")
    dossiers.give(eve, id, "eve")
    assert "eve" not in [member.name for member in dossiers.read(eve, id).members]
    assert [(each.action, each.detail) for each in dossiers.history(eve, id)[:4]] == [
        ("give", "eve: eve"),
        ("give", "ann: eve"),
        ("share", "group *: reader"),
        ("share", "account eve: no role"),
    ]


def test_the_log_names_the_items_that_were_added_moved_and_removed(dossiers: Dossiers) -> None:
    id, items = fill(dossiers)
    ids = [item.id for item in items]
    document = Content(kind="document", document_id="a", text="All of it.")
    (whole,) = dossiers.add(ANN, id, [document]).items
    assert dossiers.find_holding(ANN, ["a", "a#1", "a#9"]) == {"a": [id], "a#1": [id]}
    dossiers.move(ANN, id, ids[1:2])
    dossiers.remove(ANN, id, [ids[0], whole.id, "unknown"])
    log = [(change.action, change.items) for change in dossiers.history(ANN, id)[:4]]
    assert log == [
        ("remove", (ids[0], whole.id)),
        ("move", (ids[1],)),
        ("add", (whole.id,)),
        ("add", tuple(ids)),
    ]
    assert dossiers.find_holding(ANN, ["a", "a#0", "a#1"]) == {"a#1": [id]}
    assert dossiers.find_holding(Person("eve"), ["a#1"]) == {}


def test_a_deleted_dossier_keeps_its_log_and_may_be_erased(dossiers: Dossiers) -> None:
    id, _ = fill(dossiers)
    dossiers.delete(ANN, id)
    actions = [change.action for change in dossiers.history(ANN, id)]
    assert actions == ["delete", "add", "share", "create"]
    assert dossiers.restore(ANN, id, 3).version == 5
    assert dossiers.restore(ANN, id, 3).version == 5, "nothing changes"
    dossiers.delete(ANN, id)
    dossiers.erase(ANN, id)
    with pytest.raises(NoDossier):
        dossiers.history(ANN, id)
