"""Completion of the end of a query, and suggestions for misspelt words, on both engines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import esr
from esr.enrichment.recipe import Recipe
from esr.index.filters import NO_FILTERS, Filters
from esr.index.names import name_key
from esr.index.questions import SimilarWords
from esr.plans.plan import HasWords
from esr.query import parse
from esr.ranking import speakers
from esr.ranking.completions import complete
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.speakers import QuotedSpeaker, find_quoted, find_written, suggest_speakers
from esr.ranking.spelling import Suggestion, correct, suggest
from esr.text.document import Document, Quote, Sentence
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.elasticsearch import document, load
from tests.support.index_contents import ENGINES, open_loaded

TEXTS = ["Climate talks and climbers", "The climate of Zürich", "Climate models", "A clinic in Zürich"]


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    news = [document("a", *TEXTS, source="BBC News"), document("b", "Rain", source="Reuters")]
    news.append(document("c", *["They said so"] * 200, "Saida lies by the sea"))
    news.append(document("d", "Michael Flynn saw the Michael Ridge, a flight away"))
    entities = (Entity("Michael Flynn", "person"), Entity("Michael Ridge", "location"))
    with open_loaded(request, tmp_path_factory.mktemp("completion"), news) as opened:
        with opened.index.enrichment() as enrichment:
            recipe = Recipe(("entities",), {"made": "by hand"})
            enrichment.store(recipe, [("d", [SentenceEnrichment({}, entities, None)])])
            enrichment.finish(recipe)
        yield opened


def queries(searcher: Searcher, text: str, limit: int = 8) -> list[str]:
    return [completion.query for completion in complete(searcher, text, limit)]


def test_the_last_word_is_completed_most_frequent_first(searcher: Searcher) -> None:
    assert queries(searcher, "rain cli") == ["rain climate", "rain climbers", "rain clinic"]
    assert queries(searcher, "rain cli", 1) == ["rain climate"]


def test_case_and_accents_make_no_difference(searcher: Searcher) -> None:
    assert queries(searcher, "Zur") == queries(searcher, "zür") == ["zurich"]


def test_a_word_is_completed_within_quotes_and_behind_signs(searcher: Searcher) -> None:
    assert queries(searcher, '+rain -"the clin') == ['+rain -"the clinic']


def test_sources_are_completed_behind_their_field(searcher: Searcher) -> None:
    assert queries(searcher, "rain source:b") == ['rain source:"BBC News"']
    assert queries(searcher, "rain -source:REU") == ["rain -source:Reuters"]


@pytest.mark.parametrize(
    ("begun", "completed"),
    [
        ("M*", 'source:"M*A*S*H"'),
        ("+", 'source:"+972mag"'),
        ("Jane", 'source:“Jane "JD" Doe”'),
        ("«", 'source:"« Le Monde »"'),
        ("?", None),
    ],
)
def test_a_completed_value_is_read_as_that_value(tmp_path: Path, begun: str, completed: str | None) -> None:
    sources = ["M*A*S*H", "+972mag", 'Jane "JD" Doe', "« Le Monde »", "???"]
    load(str(tmp_path / "index"), [document(f"d{n}", "Rain", source=s) for n, s in enumerate(sources)])
    with open_searcher(str(tmp_path / "index")) as searcher:
        assert queries(searcher, f"rain source:{begun}") == ([f"rain {completed}"] if completed else [])
        for completion in complete(searcher, f"source:{begun}", 8):
            (group,) = esr.parse_query(completion.query).groups
            assert (group.role, group.alternatives[0].text) == ("required", completion.text)


def test_a_complete_word_is_not_completed_to_words_that_are_rare_beside_it(searcher: Searcher) -> None:
    assert queries(searcher, "rain said") == ["rain said"]
    assert queries(searcher, "rain sai")[0] == "rain said"


def test_a_name_in_open_quotes_is_completed_with_names_of_the_type(searcher: Searcher) -> None:
    for begun in ('person:"Michael Fl', "person:Mich", "person:“michael f"):
        assert queries(searcher, f"rain {begun}") == ['rain person:"Michael Flynn"']
    assert queries(searcher, '"rain" -place:"Michael') == ['"rain" -place:"Michael Ridge"']
    assert len(queries(searcher, 'name:"Michael')) == 2
    assert queries(searcher, 'source:"BBC N') == ['source:"BBC News"']


def test_a_name_is_completed_from_as_many_words_as_begin_it(searcher: Searcher) -> None:
    assert queries(searcher, "rain michael f")[0] == "rain Michael Flynn"
    assert queries(searcher, "rain michael")[:2] == ["rain Michael Flynn", "rain Michael Ridge"]


@pytest.fixture(scope="module", params=ENGINES)
def dated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """The newest article is of 31 March, so the month before it begins with the last day of February."""
    days = {"new": "03-31T23:30:00Z", "week": "03-24", "older": "02-28", "year": "02-27"}
    news = [document(name, "Rain", date=f"2017-{day}") for name, day in days.items()]
    news.append(document("undated", "Rain"))
    with open_loaded(request, tmp_path_factory.mktemp("dated"), news) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("rain after:7d", ["new", "week"]),
        ("rain after:0d", ["new"]),
        ("rain (before:7d OR source:a) after:1m", ["older"]),
        ('rain after:"1Y"', ["new", "week", "older", "year"]),
        ("rain before:9999y", []),
    ],
)
def test_dates_go_back_from_the_last_day_of_the_collection(
    dated: Searcher, query: str, found: list[str]
) -> None:
    hits = dated.search(query, 10).hits
    assert sorted(hit.sentence_id for hit in hits) == sorted(f"{name}.s0" for name in found)


def test_fields_are_completed_within_parentheses(searcher: Searcher) -> None:
    assert queries(searcher, '(rain OR person:"Michael Fl') == ['(rain OR person:"Michael Flynn"']
    assert queries(searcher, "(source:reu") == ["(source:Reuters"]


def test_fields_that_the_index_has_nothing_for_are_not_offered(searcher: Searcher) -> None:
    def fields(text: str) -> list[str]:
        return [each.query for each in complete(searcher, text, 8) if each.kind == "field"]

    assert fields("rain -sou") == ["rain -source:"]
    assert fields("(pers") == ["(person:"] and fields("pla") == ["place:"] and fields("aft") == ["after:"]
    assert not fields("auth") and not fields("sect") and not fields("organ") and not fields("s")
    assert fields("Source:") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "climate ",
        "c",
        "zzz",
        "rain!",
        "person:",
        "\u200b",
        "source:",
        "after:cl",
        "is:cl",
        "language:cl",
    ],
)
def test_nothing_to_complete_is_no_error(searcher: Searcher, text: str) -> None:
    assert all(completion.kind in ("source", "name") for completion in complete(searcher, text, 8))


FREQUENT = (
    *("earthquake", "government", "Beyoncé", "parliament", "election"),
    *("hurricane", "minister", "economy", "president"),
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module", params=ENGINES)
def searcher_of_spelling(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searcher]:
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
def test_a_misspelt_word_is_put_right(searcher_of_spelling: Searcher, word: str) -> None:
    rng = random.Random(word)
    slips = {slip(rng, slip(rng, word)) for _ in range(10)} | {slip(rng, word) for _ in range(10)}
    unseen = [each for each in slips if searcher_of_spelling.search(each).unseen]
    right = sum(
        word in (alternative.text for alternative in suggestion.alternatives)
        for each in unseen
        for suggestion in suggestions(searcher_of_spelling, each)
    )
    assert right >= 0.9 * len(unseen)


def test_a_suggestion_says_where_the_word_stands_and_corrects_the_query(
    searcher_of_spelling: Searcher,
) -> None:
    (suggestion,) = suggestions(searcher_of_spelling, '+tides "the earthqake" -minister')
    assert (suggestion.word, suggestion.start, suggestion.end) == ("earthqake", 12, 21)
    assert suggestion.alternatives[0].text == "earthquake"
    assert suggestion.queries[0] == '+tides "the earthquake" -minister'


def test_all_misspelt_words_can_be_put_right_at_once(searcher_of_spelling: Searcher) -> None:
    query = '"the earthqake" tides minster'
    assert correct(query, suggestions(searcher_of_spelling, query)) == '"the earthquake" tides minister'
    assert correct("tides", ()) is None


def test_words_are_suggested_as_people_write_them_with_their_sentences(
    searcher_of_spelling: Searcher,
) -> None:
    (suggestion,) = suggestions(searcher_of_spelling, "beyonse")
    (best,) = suggestion.alternatives
    assert best.text == "Beyoncé"
    assert best.sentences == searcher_of_spelling.index.count([HasWords(("beyonce",))], NO_FILTERS)[0] > 3


def test_words_that_are_there_get_no_suggestion(searcher_of_spelling: Searcher) -> None:
    for query in ("earthquake", "earthquakes", "trumpet", "tides the of", '"of tides"', "Beyonce"):
        assert suggestions(searcher_of_spelling, query) == (), query


def test_a_right_word_that_resembles_a_frequent_one_by_chance_gets_no_suggestion(
    searcher_of_spelling: Searcher,
) -> None:
    for query in ("coral", "reefs", "warmer", "coral reefs in warmer water", "wasp", "wasps"):
        assert suggestions(searcher_of_spelling, query) == (), query


def test_what_is_excluded_and_what_is_no_word_get_none(searcher_of_spelling: Searcher) -> None:
    for query in (
        "tides -earthqake",
        "tides earthqak*",
        "tides title:earthqake",
        "tides 12345678",
        "tides xq",
    ):
        assert suggestions(searcher_of_spelling, query) == (), query


def test_a_slip_of_the_collection_itself_is_put_right(searcher_of_spelling: Searcher) -> None:
    (suggestion,) = suggestions(searcher_of_spelling, "goverment")
    assert suggestion.alternatives[0].text == "government"


def test_similar_words_occur_as_often_as_asked_for(searcher_of_spelling: Searcher) -> None:
    """Over all segments and shards, which may each have fewer of them."""
    every = searcher_of_spelling.index.vocabulary(SimilarWords("electons", 2, 1))
    assert every.keys() == {"election", "elections"}
    assert searcher_of_spelling.index.vocabulary(SimilarWords("electons", 2, 2)) == {
        "election": every["election"]
    }
    assert searcher_of_spelling.index.vocabulary(SimilarWords("electons", 2, every["election"])) == {
        "election": every["election"]
    }
    assert searcher_of_spelling.index.vocabulary(SimilarWords("electons", 2, every["election"] + 1)) == {}


SAID = [
    ("Mrs May", "theresa may", "We leave the single market."),
    ("Theresa May", "theresa may", "It is a good deal."),
    ("she", "theresa may", "It is late."),
    ("he", None, "It rains."),
    ("the mayor", None, "We pay taxes."),
    ("Corbyn", "jeremy corbyn", "We vote against it."),
    ("Mr Jones", "alan jones", "We wait."),
    ("Jones", "betty jones", "We go."),
    ("Jones", "betty jones", "We stay."),
    ("O'Neill", "ann o'neill", "We sing."),
]


@pytest.fixture(scope="module", params=ENGINES)
def searcher_of_quotations(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searcher]:
    sentences = [
        Sentence(f"a.s{n}", f'"{text}"', quotes=(Quote(0, len(text) + 2, speaker, name, "said"),))
        for n, (speaker, name, text) in enumerate(SAID)
    ]
    sentences.append(Sentence("a.s10", "Theresa May and Jeremy Corbyn met Jones on a Monday"))
    with open_loaded(request, tmp_path_factory.mktemp("said"), [Document("a", tuple(sentences))]) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "speaker", "about"),
    [
        ("what did Theresa May say about the single market?", "theresa may", "the single market"),
        ("What has theresa may said on market", "theresa may", "market"),
        ("May on the market", None, ""),
        ("Mrs May said about the single market", "theresa may", "the single market"),
        ("quotes by Theresa May on the market", "theresa may", "the market"),
        ("Theresa May quotes", "theresa may", ""),
        ("what did Theresa May say about zyxgarble", "theresa may", ""),
        ("what did Theresa May say about it", "theresa may", ""),
        ("Was hat Corbyn über vote gesagt", "jeremy corbyn", "vote"),
        ("Jones on Monday", "betty jones", "Monday"),
        ("Ann O’Neill on singing", "ann o'neill", "singing"),
        ("he on rains", None, ""),
        ("the mayor on taxes", None, ""),
        ("market on Monday", None, ""),
        ("Theresa May market", None, ""),
        ("+Theresa +May on market", None, ""),
    ],
)
def test_a_query_for_what_somebody_said_names_the_speaker_if_they_are_quoted(
    searcher_of_quotations: Searcher, query: str, speaker: str | None, about: str
) -> None:
    prepared = searcher_of_quotations.prepare(query, Ranking())
    found = find_quoted(prepared, NO_FILTERS)
    assert (found and (found.speaker, found.about)) == (speaker and (speaker, about))
    assert find_quoted(prepared, Filters(sources=("x",))) is None


def test_the_speaker_of_a_query_has_a_name_and_a_place(searcher_of_quotations: Searcher) -> None:
    prepared = searcher_of_quotations.prepare("quotes by MRS MAY on market", Ranking())
    found = find_quoted(prepared, NO_FILTERS)
    assert found == QuotedSpeaker("theresa may", "Theresa May", 10, 17, "market")


def test_a_name_is_looked_for_only_at_the_beginning_of_a_speaker_that_is_a_whole_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = []

    def record(text: str) -> str:
        texts.append(text)
        return name_key(text)

    monkeypatch.setattr(speakers, "name_key", record)
    assert find_written("ann lee", "the mayor, Ann Lee of Hull") == "Ann Lee"
    assert find_written("ann lee", "mayor " * 200) == "" and len(texts) < 1_000


def test_other_queries_look_up_no_speaker(
    searcher_of_quotations: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speakers, "find_speaker", None)
    for query in ("single market", "what a market", "Theresa May", "market " * 40 + "on market"):
        assert find_quoted(searcher_of_quotations.prepare(query, Ranking()), NO_FILTERS) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Teresa May", ["Theresa May"]),
        ("Theresa Mey", ["Theresa May"]),
        ("Tehresa Maj", ["Theresa May"]),
        ("Corbin", ["Jeremy Corbyn"]),
        ("jeremi corbin", ["Jeremy Corbyn"]),
        ("Theresa May", []),
        ("Mrs May", []),
        ("hee", []),
        ("Zyx Garble", []),
        ("?", []),
        ("one two three four five", []),
    ],
)
def test_a_mistyped_speaker_gets_the_quoted_names_that_may_be_meant(
    searcher_of_quotations: Searcher, text: str, names: list[str]
) -> None:
    assert [speaker.name for speaker in suggest_speakers(searcher_of_quotations.index, text)] == names


def test_a_misspelling_that_a_few_documents_share_is_found_beside_its_usual_neighbour(tmp_path: Path) -> None:
    texts = [f"Theresa May spoke about number {n}." for n in range(60)]
    texts += [f"Teresa Nunez of house {n} answered." for n in range(5)] + ["Teresa May spoke, too."]
    load(str(tmp_path / "i"), [document(f"d{n}", text) for n, text in enumerate(texts)])
    with open_searcher(str(tmp_path / "i")) as searcher:
        (suggestion,) = suggest(searcher.prepare(parse("Teresa May speech"), Ranking()))
        assert [word.text for word in suggestion.alternatives] == ["Theresa"]
        assert suggestion.queries == ("Theresa May speech",)
        assert suggest(searcher.prepare(parse("Teresa Nunez"), Ranking())) == ()
