"""The registry of features, and those of names, figures, new terms, titles and quotations."""

from __future__ import annotations

import json
import re

import pytest

from esr.errors import UsageError
from esr.features import FEATURES, NEEDS, RULES, get
from esr.features.feature import FeatureInput, check_rule
from esr.features.subjectivity import THRESHOLD
from esr.text.document import Document
from esr.text.sentence_enrichment import LOCATION, ORGANIZATION, PERSON, Annotation
from tests.support.fake_enricher import annotated, from_texts, tagged, values

EXPECTED = (
    "subj subj_score pos neg opt pers loc org ne quote numbers novelty title_overlap len position furniture"
)


def test_these_features_are_there() -> None:
    assert set(EXPECTED.split()) == set(FEATURES)


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_says_what_it_is(name: str) -> None:
    feature = get(name)
    assert re.fullmatch("[a-z][a-z_]*", name) and feature.description and feature.source
    assert set(feature.needs) <= set(NEEDS)
    assert json.loads(json.dumps(feature.as_dict()))["name"] == name


def test_length_and_position_are_columns_that_every_index_has() -> None:
    own = {f.name: f.column for f in FEATURES.values() if f.compute is None}
    assert own == {"len": "length", "position": "position"}
    assert get("subj").column == "features.subj"


def test_an_unknown_feature_or_rule_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown feature 'subjj': did you mean 'subj'"):
        get("subjj")
    with pytest.raises(UsageError, match="did you mean 'clues'"):
        check_rule("clue")
    assert set(THRESHOLD) == set(RULES)


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


DOCUMENTS = {
    "straight": (['"It is over," he said.'], [3 / 5]),
    "curly": (["He said: “It’s over.”"], [2 / 4]),
    "penn": (["`` It is over , '' he said ."], [3 / 5]),
    "single curly, with an apostrophe in it": (["A ‘don’t know’ place"], [2 / 4]),
    "an apostrophe is no quotation mark": (["The boys’ dog isn't John's ‘90s dog"], [0]),
    "a decade, and the boys’": (["In the ‘90s it was the boys’ dog"], [0]),
    "a speech of many paragraphs": ([*["“Rain fell."] * 13, "Done.” He left."], [*[1] * 13, 1 / 3]),
    "inches": (["He is 6' 4\" tall."], [0]),
    "a mark between spaces": (['" It is over , " he said .'], [3 / 5]),
    "two quotations": (['"Yes," he said, "no".'], [2 / 4]),
    "over sentences": (["He said: “It is over.", "We lost.", "Go home.” They went."], [3 / 5, 1, 2 / 4]),
    "over sentences, straight": (['"It is over.', 'We lost," he said.', "Rain fell."], [1, 2 / 4, 0]),
    "paragraphs that open it again": (["“One two.", "“Three four.", "“Five.” Six."], [1, 1, 1 / 2]),
    "never closed": (["He said “it is over.", "Rain fell."], [3 / 5, 0]),
    "never closed, and then another": (["He said “it is over.", "Rain fell.", "A “b” c."], [3 / 5, 0, 1 / 3]),
    "closed too late": (["“One.", *["Rain fell."] * 12, "Two.” Three."], [1, *[0] * 12, 0]),
    "never opened": (["Rain fell.” Three."], [0]),
    "no words": (["“…”", "", "!"], [None, None, None]),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_share_of_words_in_quotation_marks(name: str) -> None:
    texts, shares = DOCUMENTS[name]
    assert values("quote", from_texts(*texts)) == shares


def test_it_is_not_known_of_a_sentence_in_another_language() -> None:
    of = from_texts("„Ja“, sagte er")
    other = FeatureInput(Document("d", of.document.sentences), [None], of.lexicon, of.rule, of.terms)
    assert values("quote", other) == [None]


def test_a_long_row_of_marks_takes_no_time() -> None:
    assert values("quote", from_texts('"' * 50_000 + " ‘a" * 20_000))[0] is not None
