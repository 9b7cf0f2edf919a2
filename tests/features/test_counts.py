from __future__ import annotations

import pytest

from esr.text.document import LOCATION, ORGANIZATION, PERSON, Annotation
from tests.support.feature_inputs import annotated, from_texts, tagged, values


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("In 2017 it rose 1,200.50 points.", 2),
        ("On 2017-02-07 at 10:30", 2),
        ("The 3rd, a 16-year-old, earned $5bn in the 1990s: 7%.", 5),
        ("An F-16, COVID-19, G20, B2B and h2o", 0),
        ("two million", 0),
        ("", 0),
        ("7" * 100_000, 1),
    ],
)
def test_figures_are_counted_and_those_of_names_are_not(text: str, count: int) -> None:
    assert values("numbers", from_texts(text)) == [count]


def test_entities_are_counted_by_their_types() -> None:
    names = [("Bush", PERSON), ("May", PERSON), ("Paris", LOCATION), ("Apple", ORGANIZATION)]
    of = annotated(tagged("x", names), tagged("y"), None)
    assert {n: values(n, of) for n in ("pers", "loc", "org", "ne")} == {
        "pers": [2, 0, None],
        "loc": [1, 0, None],
        "org": [1, 0, None],
        "ne": [4, 0, None],
    }


def test_entities_that_were_not_looked_for_are_not_known() -> None:
    assert values("ne", annotated(Annotation((), None, is_tagged=True, is_parsed=False))) == [None]


def test_novelty_is_the_share_of_terms_not_said_before() -> None:
    of = from_texts("Floods hit the north.", "The floods hit towns, towns.", "", "Floods hit.", title="Towns")
    assert values("novelty", of) == [1, 1 / 3, None, 0]


def test_title_overlap_is_the_share_of_the_titles_terms() -> None:
    of = from_texts("Floods hit the north.", "The the.", "", title="The floods of the south, floods")
    assert values("title_overlap", of) == [1 / 2, 0, 0]
    assert values("title_overlap", from_texts("Floods.")) == [None]
    assert values("title_overlap", from_texts("Floods.", title="the …")) == [None]
