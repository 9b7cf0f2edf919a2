"""The sample is written from RFC 4180."""

import pytest

from tests.loaders.conftest import texts
from tests.support.samples import sample

CSV = sample("csv")


def test_a_row_gives_a_document_with_line_ends_and_quotes_in_its_fields(load):
    first, second = load(CSV, "csv")
    assert (first.id, first.title, first.date) == ("c1", "Ferry back in service", "2024-01-15")
    assert texts(first) == ["The ferry sails again.", 'Two hundred people said "at last".']
    assert (second.title, second.date) == (None, "2024-01-16")


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_the_first_row_determines_the_delimiter(load, delimiter):
    rows = [["id", "text", "place"], ["a", "One, two.", "x"]]
    data = "\r\n".join(delimiter.join(row) for row in rows)
    assert texts(load("\ufeff\n" + data, "csv")[0]) == ["One, two."]


def test_a_row_of_another_length_is_malformed_and_those_after_it_are_read(load):
    bad = []
    documents = load("id,text\na,x\nb,x,y\n\nc\nd,z\n", "csv", bad)
    assert [d.id for d in documents] == ["a", "d"]
    assert [(b.where, b.problem.partition(":")[0]) for b in bad] == [
        ("standard input:3", "this row has 3 fields and the first row 2"),
        ("standard input:5", "this row has 1 fields and the first row 2"),
    ]


def test_an_unreadable_date_is_rejected_rather_than_lost(load_error):
    assert "date '02/03/1999' is ambiguous" in load_error("id,date,text\na,02/03/1999,x\n", "csv")
    assert "date 'Monday' is not" in load_error("id,date,text\na,Monday,x\n", "csv")


def test_an_unclosed_quote_is_rejected_with_the_line_of_its_row(load_error):
    assert "standard input:3: broken CSV" in load_error('id,text\na,x\nb,"y\nc,z\n', "csv")


def test_duplicate_columns_are_rejected(load_error):
    assert "column 'id' is duplicated" in load_error("id,id\na,b\n", "csv")


def test_a_field_without_end_does_not_fill_the_memory(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.table.MAX_DOCUMENT_BYTES", 1000)
    assert "longer than" in load_error('id,text\na,"' + "x y\n" * 1000, "csv")
