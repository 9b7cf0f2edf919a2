"""Words that may have been meant, on both engines."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import esr
from esr.engines.index import NO_FILTERS
from esr.plans.condition import HasWords
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.ranking.spelling import Suggestion, correct, suggest
from tests.support.both_engines import ENGINES, open_loaded
from tests.support.elasticsearch import document

FREQUENT = (
    *("earthquake", "government", "Beyoncé", "parliament", "election"),
    *("hurricane", "minister", "economy", "president"),
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    rng = random.Random(1)
    texts = [f"The {rng.choice(FREQUENT)} and the {rng.choice(FREQUENT)} of tides" for _ in range(300)]
    texts += [f"The coal {n} needs water and was {n} deep" for n in range(60)]
    texts += ["Coral reefs are dying", "The sea gets warmer", "A wasps nest"]
    texts += ["A goverment of one", "Trumpet and trombone", "Beyoncé sings", "elections were held"]
    news = [document(f"d{n}", *texts[n : n + 4]) for n in range(0, len(texts), 4)]
    options = {"shards": 2} if request.param == "elasticsearch" else {}
    with open_loaded(request, tmp_path_factory.mktemp("spelling"), news, **options) as opened:
        yield opened


def suggestions(searcher: Searcher, query: str) -> tuple[Suggestion, ...]:
    return suggest(searcher.prepare(esr.parse_query(query), Ranking()))


def slip(rng: random.Random, word: str) -> str:
    n, letter = rng.randrange(1, len(word)), rng.choice(LETTERS)
    return rng.choice(
        [
            word[:n] + word[n + 1 :],
            word[:n] + letter + word[n:],
            word[:n] + letter + word[n + 1 :],
            word[: n - 1] + word[n] + word[n - 1] + word[n + 1 :],
        ]
    )


@pytest.mark.parametrize("word", [word for word in FREQUENT if word.isascii()])
def test_a_misspelt_word_is_put_right(searcher: Searcher, word: str) -> None:
    rng = random.Random(word)
    slips = {slip(rng, slip(rng, word)) for _ in range(10)} | {slip(rng, word) for _ in range(10)}
    unseen = [each for each in slips if searcher.search(each).unseen]
    right = sum(
        word in (alternative.text for alternative in suggestion.alternatives)
        for each in unseen
        for suggestion in suggestions(searcher, each)
    )
    assert right >= 0.9 * len(unseen)


def test_a_suggestion_says_where_the_word_stands_and_corrects_the_query(searcher: Searcher) -> None:
    (suggestion,) = suggestions(searcher, '+tides "the earthqake" -minister')
    assert (suggestion.word, suggestion.start, suggestion.end) == ("earthqake", 12, 21)
    assert suggestion.alternatives[0].text == "earthquake"
    assert suggestion.queries[0] == '+tides "the earthquake" -minister'


def test_all_misspelt_words_can_be_put_right_at_once(searcher: Searcher) -> None:
    query = '"the earthqake" tides minster'
    assert correct(query, suggestions(searcher, query)) == '"the earthquake" tides minister'
    assert correct("tides", ()) is None


def test_words_are_suggested_as_people_write_them_with_their_sentences(searcher: Searcher) -> None:
    (suggestion,) = suggestions(searcher, "beyonse")
    (best,) = suggestion.alternatives
    assert best.text == "Beyoncé"
    assert best.sentences == searcher.index.count([HasWords(("beyonce",))], NO_FILTERS)[0] > 3


def test_words_that_are_there_get_no_suggestion(searcher: Searcher) -> None:
    for query in ("earthquake", "earthquakes", "trumpet", "tides the of", '"of tides"', "Beyonce"):
        assert suggestions(searcher, query) == (), query


def test_a_right_word_that_resembles_a_frequent_one_by_chance_gets_no_suggestion(searcher: Searcher) -> None:
    for query in ("coral", "reefs", "warmer", "coral reefs in warmer water", "wasp", "wasps"):
        assert suggestions(searcher, query) == (), query


def test_what_is_excluded_and_what_is_no_word_get_none(searcher: Searcher) -> None:
    for query in (
        "tides -earthqake",
        "tides earthqak*",
        "tides title:earthqake",
        "tides 12345678",
        "tides xq",
    ):
        assert suggestions(searcher, query) == (), query


def test_a_slip_of_the_collection_itself_is_put_right(searcher: Searcher) -> None:
    (suggestion,) = suggestions(searcher, "goverment")
    assert suggestion.alternatives[0].text == "government"


def test_similar_words_occur_as_often_as_asked_for(searcher: Searcher) -> None:
    """Over all segments and shards, which may each have fewer of them."""
    every = searcher.index.similar_words("electons", 2, 1)
    assert every.keys() == {"election", "elections"}
    assert searcher.index.similar_words("electons", 2, 2) == {"election": every["election"]}
    assert searcher.index.similar_words("electons", 2, every["election"]) == {"election": every["election"]}
    assert searcher.index.similar_words("electons", 2, every["election"] + 1) == {}
