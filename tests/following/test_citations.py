"""Citations, read back by other programs' readers."""

from __future__ import annotations

import json

import bibtexparser
import pytest
import rispy
from bibtexparser.customization import convert_to_unicode

from esr.following.citations import CITATIONS, to_bibtex, to_csl, to_ris
from tests.support.fake_index import FLOOD, STORM

ODD = STORM._replace(
    sentence_id="ä/1.s0",
    title='50% of {R&D} cost $3_000 ~ #1 \\ "Zoë"',
    text="First line\r\nTY  - JOUR\r\nsecond } line",
    source="Ärzte & Co.",
    date="2017-03",
    url="https://x.org/a_b?c={d}&e=%20",
)
RECORDS = [STORM, FLOOD, ODD, STORM._replace(title="Again")]


def test_bibtex_is_read_as_it_was_meant() -> None:
    library = bibtexparser.loads(to_bibtex(RECORDS))
    entries = {entry["ID"]: convert_to_unicode(entry) for entry in library.entries}
    assert list(entries) == ["a-s1", "b-s0", "1-s0", "a-s1-2"]
    storm = entries["a-s1"]
    assert (storm["year"], storm["month"], storm["day"]) == ("2017", "3", "5")
    assert (storm["journal"], storm["url"]) == ("The Example", STORM.url)
    assert STORM.text in storm["note"]
    assert "year" not in entries["b-s0"] and entries["b-s0"]["title"].strip("{}") == "b"
    odd = entries["1-s0"]
    assert odd["month"] == "3" and "day" not in odd
    assert odd["url"] == "https://x.org/a_b?c=%7Bd%7D&e=%20"


def test_bibtex_escapes_what_tex_would_read() -> None:
    title = next(line for line in to_bibtex([ODD]).splitlines() if line.startswith("  title"))
    assert (
        r"50\% of \textbraceleft{}R\&D\textbraceright{} cost \$3\_000 \textasciitilde{} \#1 \textbackslash{}"
        in title
    )


def test_ris_is_read_as_it_was_meant() -> None:
    entries = rispy.loads(to_ris(RECORDS))
    assert [entry["type_of_reference"] for entry in entries] == ["NEWS"] * 4
    assert entries[0]["title"] == STORM.title and entries[0]["abstract"] == STORM.text
    assert entries[0]["urls"] == [STORM.url] and entries[0]["year"] == "2017"
    assert entries[2]["abstract"] == "First line TY - JOUR second } line"
    assert "year" not in entries[1]


def test_csl_json_has_the_parts_of_dates_that_are_known() -> None:
    items = json.loads(to_csl(RECORDS))
    assert [item.get("issued") for item in items] == [
        {"date-parts": [[2017, 3, 5]]},
        None,
        {"date-parts": [[2017, 3]]},
        {"date-parts": [[2017, 3, 5]]},
    ]
    assert items[0]["container-title"] == "The Example" and items[0]["type"] == "article-newspaper"
    assert len({item["id"] for item in items}) == 4


@pytest.mark.parametrize("name", CITATIONS)
def test_no_sentence_is_no_citation(name: str) -> None:
    assert CITATIONS[name].render([]).strip() in ("", "[]")
