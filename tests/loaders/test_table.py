"""The sample is written from RFC 4180."""

import pytest

from tests.loaders.conftest import texts
from tests.loaders.samples import sample

CSV = sample("csv")


def test_a_row_gives_a_document_with_line_ends_and_quotes_in_its_fields(loaded):
    first, second = loaded(CSV, "csv")
    assert (first.id, first.title, first.date) == ("c1", "Ferry back in service", "2024-01-15")
    assert texts(first) == ["The ferry sails again.", 'Two hundred people said "at last".']
    assert (second.title, second.date) == (None, "2024-01-16")


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_the_delimiter_is_told_by_the_first_row(loaded, delimiter):
    rows = [["id", "text", "place"], ["a", "One, two.", "x"]]
    data = "\r\n".join(delimiter.join(row) for row in rows)
    assert texts(loaded("\ufeff\n" + data, "csv")[0]) == ["One, two."]


def test_a_row_of_another_length_is_malformed_and_those_after_it_are_read(loaded):
    bad = []
    found = loaded("id,text\na,x\nb,x,y\n\nc\nd,z\n", "csv", bad)
    assert [d.id for d in found] == ["a", "d"]
    assert [(b.where, b.problem.partition(":")[0]) for b in bad] == [
        ("standard input:3", "this row has 3 fields and the first row 2"),
        ("standard input:5", "this row has 1 fields and the first row 2"),
    ]


def test_a_date_that_cannot_be_read_is_refused_rather_than_lost(refused):
    assert "date '02/03/1999' is not" in refused("id,date,text\na,02/03/1999,x\n", "csv")


def test_a_quote_that_is_not_closed_is_refused_with_the_line_it_begins_on(refused):
    assert "standard input:3: no CSV" in refused('id,text\na,x\nb,"y\nc,z\n', "csv")


def test_two_columns_of_a_name_are_refused(refused):
    assert "two columns are named 'id'" in refused("id,id\na,b\n", "csv")


def test_a_field_without_end_does_not_fill_the_memory(refused, monkeypatch):
    monkeypatch.setattr("esr.loaders.table.MAX_DOCUMENT_BYTES", 1000)
    assert "longer than" in refused('id,text\na,"' + "x y\n" * 1000, "csv")
