"""Dates of sources whose fields anyone has named."""

import json

import pytest

from esr.errors import InputError
from esr.loaders import Malformed, ReadOptions, read_documents


@pytest.fixture
def read(tmp_path):
    """A function from a date in JSON to the date of the document and the remarks about it."""

    def read(date, name="date", **options):
        (tmp_path / "x.jsonl").write_text(json.dumps({"id": "d1", "text": "x", name: date}))
        remarks = []
        options = ReadOptions(on_remark=lambda remark: remarks.append(remark.text), **options)
        (located,) = read_documents([str(tmp_path)], options=options)
        return located.document.date, remarks

    return read


def test_usual_forms_become_iso_8601(read):
    assert read("Tue, 05 Mar 2024 10:30:00 +0100") == ("2024-03-05T10:30:00+01:00", [])


@pytest.mark.parametrize(
    "date", ["2024", "2024-03", "20240305", "2024-03-05T10:30:00", "2024-W10", "20240305T1030Z"]
)
def test_iso_8601_stays_as_json_has_it(read, date):
    assert read(date) == (date, [])


@pytest.mark.parametrize("date", [1709596800, 1709596800.0, "1709596800"])
def test_numbers_are_seconds_since_1970_and_it_is_said(read, date):
    remark = "have a date that was read as seconds since 1970"
    assert read(date) == ("2024-03-05T00:00:00Z", [remark])
    assert read(date, "timestamp")[0] == "2024-03-05T00:00:00Z"


@pytest.mark.parametrize("name", ["date", "published"])
def test_an_ambiguous_date_is_an_error_until_its_order_is_declared(read, name):
    with pytest.raises(
        InputError, match=r":1: document 'd1': date '05/03/2024' is ambiguous: choose --day-first"
    ):
        read("05/03/2024", name)
    date, remarks = read("05/03/2024", name, day_first=True)
    assert (date, remarks[-1]) == ("2024-03-05", "have a date that was read with the day first")
    assert read("05/03/2024", name, day_first=False)[0] == "2024-05-03"


def test_a_mapped_date_is_read_too(read):
    assert read("March 5, 2024", "day", mapping={"date": "day"}) == ("2024-03-05", [])


@pytest.mark.parametrize("date", ["Monday", 7, True, [1], "05/03/24"])
def test_what_is_no_date_is_an_error(read, date):
    with pytest.raises(InputError, match="date "):
        read(date)


def test_an_ambiguous_date_is_malformed_and_those_after_it_are_read(load):
    bad = []
    text = "id,date,text\na,05/03/2024,x\nb,25/03/2024,x\n"
    assert [document.date for document in load(text, "csv", bad)] == ["2024-03-25"]
    problem = "date '05/03/2024' is ambiguous: choose --day-first or --month-first"
    assert bad == [Malformed("standard input:2", problem, "a")]
