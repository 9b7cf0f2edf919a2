"""Pasted addresses and tables of judgements: read as a whole, or not at all."""

from __future__ import annotations

import pytest

from esr.dossiers.desk import Desk
from esr.dossiers.imports import BadLines, Pasted, bring, parse_addresses, parse_judgements
from esr.dossiers.records import Content, Edit, Person
from esr.dossiers.store import Dossiers
from esr.errors import UsageError

HOME = "https://esr.example/news/"


def test_addresses_of_sentences_and_documents_are_read_wherever_they_stand() -> None:
    text = (
        "https://esr.example/news/sentence?id=a+b&says=0f&index=old https://esr.example/news/document?q=x&id=d#s12\n\n"
        "  https://esr.example/news/document?id=d\n"
    )
    assert parse_addresses(text, HOME) == [
        Pasted(1, "old", "a b", says="0f"),
        Pasted(1, "", "d", position=12),
        Pasted(3, "", "d"),
    ]


def test_of_two_ids_in_an_address_the_first_counts_as_it_does_for_the_page() -> None:
    address = "https://esr.example/news/document?id=d&id=e&index=new&index=old"
    assert parse_addresses(address, HOME) == [Pasted(1, "new", "d")]


def test_every_line_that_is_no_address_is_named() -> None:
    text = """see https://esr.example/news/document?id=d
        https://other.example/news/document?id=d
        https://esr.example/document?id=d
        https://esr.example/news/sentence?id=d
        javascript:alert(1)"""
    with pytest.raises(BadLines) as caught:
        parse_addresses(text, HOME)
    assert [line for line, _ in caught.value.problems] == [1, 2, 3, 4, 5]
    assert "line 2: 'https://other.example/news/document?id=d' is no sentence or document" in str(
        caught.value
    )
    with pytest.raises(BadLines) as ten:
        parse_addresses("x\n" * 10, HOME)
    assert "line 10: " in str(ten.value) and "more lines" not in str(ten.value)
    with pytest.raises(UsageError, match="nothing was pasted"):
        parse_addresses(" \n", HOME)


@pytest.mark.parametrize(
    ("fragment", "position"),
    [("s0", 0), ("s12345678901", 123456789), ("12", None), ("s", None), ("s²", None)],
)
def test_a_place_in_a_document_is_a_number(fragment: str, position: int | None) -> None:
    address = f"http://esr.example/document?id=d#{fragment}"
    assert parse_addresses(address, "http://esr.example") == [Pasted(1, "", "d", position=position)]


@pytest.mark.parametrize(
    "word", ["https:///document?id=d", "https://[", "https://esr.example/news/document?id="]
)
def test_an_address_without_its_parts_is_none(word: str) -> None:
    with pytest.raises(BadLines):
        parse_addresses(word, HOME)


def test_more_lines_than_a_dossier_has_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esr.dossiers.imports.MOST_LINES", 3)
    address, table = "https://esr.example/news/document?id=d ", b"sentence_id,judgement\na,1\nb,1\nc,1\n"
    assert (len(parse_addresses(address * 3, HOME)), len(parse_judgements(table, HOME))) == (3, 3)
    with pytest.raises(UsageError, match="at most 3 are allowed"):
        parse_addresses(address * 4, HOME)
    with pytest.raises(UsageError, match="at most 3 are allowed"):
        parse_judgements(table + b"d,1\n", HOME)


TABLE = """\ufeffSentence_ID{0}judgement{0}note{0}tags{0}text\r
a.s1{0}2{0}'=x{0}"one; two"{0}Rain\r
\r
b.s2{0}{0}"of two\r
lines"{0}\r
c.s3{0} -1 {0}{0}{0}\r
"""


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_table_of_judgements_is_read_with_any_usual_separator(separator: str) -> None:
    rows = parse_judgements(TABLE.format(separator).encode(), HOME)
    assert [tuple(row) for row in rows] == [
        (2, "a.s1", None, 2, "=x", ("one", "two"), None),
        (4, "b.s2", None, None, "of two\r\nlines", (), None),
        (6, "c.s3", None, -1, "", (), None),
    ]
    (linked,) = parse_judgements(
        b"permalink,judgement\nhttps://esr.example/news/sentence?id=a&says=0f,1", HOME
    )
    assert (linked.pasted, linked.note, linked.tags) == (Pasted(2, "", "a", says="0f"), None, None)
    quoted = parse_judgements(b"sentence_id,judgement,note\na,10,'tis\nb,,'-1\nc,,'", HOME)
    assert [(row.judgement, row.note) for row in quoted] == [(10, "'tis"), (None, "-1"), (None, "'")]


def test_an_address_beside_an_id_names_the_index_and_one_of_another_server_says_nothing() -> None:
    table = b"""sentence_id,permalink,judgement
a.s1,https://esr.example/news/sentence?id=a&says=0f&index=old,1
a.s1,https://esr.example/news/sentence?id=a&says=0f,1
a.s1,https://other.example/sentence?id=a&says=0f&index=old,1
a.s2,,1
"""
    rows = parse_judgements(table, HOME)
    assert [row.index_name for row in rows[:2]] == ["old", ""]
    assert [row.index_name for row in rows[2:]] == [None, None]
    assert [row.pasted for row in rows] == [None] * 4


def test_every_row_that_cannot_be_used_is_named_with_its_line() -> None:
    table = b'sentence_id,judgement\na,good\nb,11\nc,2\nz,3\n,3\nd,1,2\n"e\ne",1.5\nf,-2\n'
    with pytest.raises(BadLines) as caught:
        parse_judgements(table, HOME)
    assert caught.value.problems == [
        (2, "the judgement 'good' is no whole number"),
        (3, "the judgement 11 is not from -1 to 10"),
        (6, "it has neither a sentence_id nor a permalink"),
        (7, "it has 3 cells, more than the table has columns"),
        (8, "the judgement '1.5' is no whole number"),
        (10, "the judgement -2 is not from -1 to 10"),
    ]
    many = b"sentence_id,judgement\n" + b"".join(b"s%d,x\n" % n for n in range(15))
    with pytest.raises(BadLines, match=r"; and 5 more lines$"):
        parse_judgements(many, HOME)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"", "the first line of the table must name"),
        (b"sentence_id,grade\na,1", "the first line of the table must name"),
        (b"judgement\n1", "the first line of the table must name"),
        (b"sentence_id,judgement,judgement\na,1,1", "two columns judgement"),
        (b"sentence_id,judgement\n\n", "has no rows"),
        (b"sentence_id,judgement\na,1\nb,\xff", "line 3 is not UTF-8"),
        (b"PK\x03\x04\0\0", "the first line of the table must name"),
    ],
)
def test_a_table_that_cannot_be_read_says_what_to_do(table: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_judgements(table, HOME)


def test_items_are_brought_and_judged_as_one_change(desk: Desk) -> None:
    ann, dossiers = Person("ann"), Dossiers(desk)

    def sentence(number: int, judgement: int | None = None) -> Content:
        return Content(document_id="a", sentence_id=f"a#{number}", text="Rain.", judgement=judgement)

    id = dossiers.create(ann, "Floods").id
    first, second = dossiers.add(ann, id, [sentence(0), sentence(1)]).items
    edits = {second.id: Edit(note="wet", tags=("b",))}
    written = bring(dossiers, ann, id, [sentence(0, 2), sentence(2, 1), sentence(2, 1)], edits)
    items = dossiers.read(ann, id).items
    assert [(item.sentence_id, item.judgement, item.note) for item in items] == [
        ("a#0", 2, ""),
        ("a#1", None, "wet"),
        ("a#2", 1, ""),
    ]
    assert (items[0].changed_by, items[1].version, items[2].added_by) == ("ann", written.version, "ann")
    assert [change.action for change in dossiers.history(ann, id)] == ["bring", "add", "create"]
    again = bring(dossiers, ann, id, [sentence(0, 2)], edits)
    assert (again.version, again.items) == (written.version, ()), "nothing changes"
    told = Content(document_id="a", sentence_id="a#0", text="Rain.", judgement=3, note="heavy", tags=("c",))
    bring(dossiers, ann, id, [told], {})
    bring(dossiers, ann, id, [sentence(0, 4)], {})
    item = dossiers.read(ann, id).items[0]
    assert (item.judgement, item.note, item.tags) == (4, "heavy", ("c",)), (
        "as somebody has added it meanwhile"
    )
    dossiers.remove(ann, id, [first.id])
    with pytest.raises(UsageError, match="removed 1 of these"):
        bring(dossiers, ann, id, [sentence(3)], {first.id: Edit(judgement=1)})
    assert len(dossiers.read(ann, id).items) == 2, "nothing of it is brought"
