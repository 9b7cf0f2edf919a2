"""Citations in styles: dates, names, quotation marks, and what is left out where it is not known."""

from __future__ import annotations

import json
from datetime import date

import pytest

from esr.following.citation_styles import Name, quote_inside, split_name
from esr.following.exports import CITATIONS, Cited
from tests.support.fake_index import FLOOD, STORM

READ = date(2026, 11, 29)
LINK = "https://esr.example/sentence?id=a&says=0"
WAR = STORM._replace(
    title="“Never again”, say ‘both’ sides", authors=("Ann B. Lee", "Ludwig van Beethoven"), source="The Post"
)
CITED = [
    Cited(WAR, permalink=LINK, accessed=READ),
    Cited(
        FLOOD._replace(title="Is it over?", authors=("Reuters",), date="2017-03"),
        permalink=LINK,
        accessed=READ,
    ),
    Cited(FLOOD._replace(document_id="c", title=None, source="rte.ie", date=None, url=None), accessed=READ),
]


@pytest.mark.parametrize(
    ("style", "lines"),
    [
        (
            "apa",
            [
                "Lee, A. B., & van Beethoven, L. (2017, March 5). “Never again”, say ‘both’ sides. The Post. "
                f"Retrieved November 29, 2026, from {STORM.url}",
                f"Reuters. (2017, March). Is it over? Retrieved November 29, 2026, from {LINK}",
                "c. (n.d.). rte.ie.",
            ],
        ),
        (
            "mla",
            [
                "Lee, Ann B., and Ludwig van Beethoven. “‘Never again’, say ‘both’ sides.” The Post, "
                f"5 Mar. 2017, {STORM.url}. Accessed 29 Nov. 2026.",
                f"Reuters. “Is it over?” Mar. 2017, {LINK}. Accessed 29 Nov. 2026.",
                "“c.” rte.ie.",
            ],
        ),
        (
            "chicago",
            [
                "Lee, Ann B., and Ludwig van Beethoven. “‘Never again’, say ‘both’ sides.” The Post, "
                f"March 5, 2017. Accessed November 29, 2026. {STORM.url}.",
                f"Reuters. “Is it over?” March 2017. Accessed November 29, 2026. {LINK}.",
                "rte.ie. “c.”",
            ],
        ),
    ],
)
def test_a_style_has_the_parts_that_are_known_in_its_order(style: str, lines: list[str]) -> None:
    assert CITATIONS[style].render([*CITED, CITED[0]]).splitlines() == lines, "an article is listed once"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ann Lee", Name("Lee", "Ann")),
        ("Lee, Ann", Name("Lee", "Ann")),
        ("J. R. van der Berg", Name("van der Berg", "J. R.")),
        ("Al Jazeera", Name("Al Jazeera")),
        ("BBC News", Name("BBC News")),
        ("our own reporters", Name("our own reporters")),
        ("Reuters", Name("Reuters")),
        ("王小明", Name("王小明")),
    ],
)
def test_names_of_people_are_split_and_those_of_groups_stay(text: str, name: Name) -> None:
    assert split_name(text) == name


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("“We won.”", "We won."),
        ('"We won."', "We won."),
        ('He said: "We won."', "He said: 'We won.'"),
        ('"We" and "they"', "'We' and 'they'"),
        ("„Wir“", "Wir"),
        ("plain", "plain"),
    ],
)
def test_no_quotation_mark_is_doubled(text: str, inside: str) -> None:
    assert quote_inside(text) == inside


def test_files_have_the_authors_the_day_of_access_and_the_permanent_link() -> None:
    item = json.loads(CITATIONS["csl"].render(CITED))[0]
    assert item["author"] == [
        {"family": "Lee", "given": "Ann B."},
        {"family": "van Beethoven", "given": "Ludwig"},
    ]
    assert item["accessed"] == {"date-parts": [[2026, 11, 29]]} and item["custom"] == {"permalink": LINK}
    bibtex, ris = (CITATIONS[name].render(CITED) for name in ("bibtex", "ris"))
    assert "author = {Lee, Ann B. and van Beethoven, Ludwig}" in bibtex and "author = {{Reuters}}" in bibtex
    assert "urldate = {2026-11-29}" in bibtex and "permalink = {https://esr.example/sentence" in bibtex
    assert (
        "AU  - van Beethoven, Ludwig\r\n" in ris
        and f"L2  - {LINK}\r\n" in ris
        and "Y2  - 2026/11/29/\r\n" in ris
    )


@pytest.mark.parametrize("format", CITATIONS)
def test_a_date_that_is_not_in_the_calendar_is_left_out(format: str) -> None:
    undated = CITATIONS[format].render([FLOOD._replace(date=None)])
    for written in ("2017-13-45", "2017-00", "2017-02-30"):
        assert CITATIONS[format].render([FLOOD._replace(date=written)]) == undated
