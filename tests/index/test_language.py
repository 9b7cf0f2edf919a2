"""An index by language: each of its languages ranks as an index that has the documents of it alone."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from clients import esr_client
from esr import models
from esr.corpus.choices import Grouping
from esr.corpus.frequencies import count_frequencies, find_key_words, find_key_words_both_ways
from esr.corpus.names_and_quotes import Selection, build_network, list_names
from esr.dependency.parses import encode
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.enrichment.recipe import Recipe
from esr.errors import UsageError
from esr.folder.write import segment_writer
from esr.following.timeline import build_timeline
from esr.index.factory import open_delivery, open_priors, open_writer
from esr.index.filters import NO_FILTERS
from esr.index.hits import Hit
from esr.index.language import find_group
from esr.index.questions import ByField, Languages, Parses, Readiness
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.view import chosen_language, in_language
from esr.index.writer import LoadOptions
from esr.query import in_language as said_to_be_in
from esr.query import parse
from esr.ranking.explanation.explain import explain
from esr.ranking.prepared_query import PreparedQuery, score_given
from esr.ranking.ranking import Ranking
from esr.ranking.requests import raw_request, request_template
from esr.ranking.searcher import QueryLanguage, Searcher, find_language, open_searcher
from esr.ranking.second_stage.query_encoder import encode_query
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import BY_LANGUAGE, analyzer_for_language, language_group
from esr.text.document import Document, Located, ParseWord, Sentence
from esr.text.sentence_enrichment import LOCATION, PARSE, VECTORS, SentenceEnrichment
from tests.support.elasticsearch import differences, fresh, http
from tests.support.fake_enricher import NAMES, VOCABULARY, FakeEnricher, write_tiny_encoder

pytestmark = pytest.mark.slow

ON_A_NODE = pytest.mark.elasticsearch

WORDS = {
    code: words.split()
    for code, words in (
        ("en", "The banks die and paid a bank of the court floods hand arm Merkel"),
        ("de-AT", "Die Banken und zahlten eine Bank des Gerichts Fluten Hand arm Merkel Bäche"),
        ("zh", "北京 银行 的 法院 洪水 Merkel bank 北京银行"),
        (None, "bank die arm Merkel flood"),
    )
}
"""Words of each language, some of which are stop words, or also words of another language."""
QUERIES = ["bank", "die Banken floods", "Merkel hand", "arm bank bank 北京银行 unseen", "die 法院"]
MODELS = [(m.name, context) for m in models.MODELS.values() for context in (m.contexts or (None,))]


def documents(language: str | None, count: int = 14, seed: int = 0) -> list[Document]:
    """Documents in one language, of all sizes, every third of them with a title."""
    rng = random.Random(f"{language} {seed}")
    made = []
    for number in range(count):
        texts = [" ".join(rng.choices(WORDS[language], k=rng.randrange(12))) for _ in range(number % 5)]
        id = f"{language}{seed}-{number}"
        parses = [tuple(ParseWord(word, n - 1) for n, word in enumerate(text.split())) for text in texts]
        sentences = tuple(
            Sentence(f"{id}.s{n}", text, parse=parse)
            for n, (text, parse) in enumerate(zip(texts, parses, strict=True))
        )
        title = rng.choice(WORDS[language]) + " Titel" if number % 3 == 0 else None
        made.append(Document(id, sentences, title=title, language=language))
    return made


def shuffled(*parts: Sequence[Document]) -> list[Document]:
    """The documents of all parts: the order within each stays."""
    order = [n for n, part in enumerate(parts) for _ in part]
    random.Random(1).shuffle(order)
    rest = [iter(part) for part in parts]
    return [next(rest[n]) for n in order]


def located(given: Sequence[Document]) -> Iterator[Located]:
    return (Located(document.id, document) for document in given)


def load(where: str, analyzer: str, *deliveries: Sequence[Document]) -> str:
    first, *others = deliveries
    open_writer(where, LoadOptions(analyzer=analyzer)).load(located(first))
    for each in others:
        open_delivery(where, LoadOptions()).append(located(each))
    return where


def is_folder(searcher: Searcher) -> bool:
    return not searcher.index.where.startswith("http")


def as_pairs(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.sentence_id, hit.score) for hit in hits]


def problems_of(
    whole: Searcher, alone: Searcher, queries: Sequence[str] = QUERIES, **settings: Any
) -> list[str]:
    """How the answers in a language differ from those of an index `alone` that has no other."""
    (language,) = alone.index.status(Languages())
    part = Searcher(in_language(whole.index.snapshot(), language_group(language)))
    problems = []
    for query in queries:
        expected, found = (each.search(query, 500, records=False, **settings) for each in (alone, part))
        different = differences(expected.hits, found.hits, 500)
        # Sums of priors depend on the order of terms, and a server's scores have 32 bits.
        if "priors" not in settings and is_folder(whole):
            different += [] if as_pairs(expected.hits) == as_pairs(found.hits) else ["not the same doubles"]
        different += [] if (expected.total, expected.unseen) == (found.total, found.unseen) else ["totals"]
        problems += [f"{language} {query!r} {settings}: {each}" for each in different]
    return problems


@pytest.fixture(scope="module", params=["embedded", pytest.param("elasticsearch", marks=ON_A_NODE)])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index of all languages, of two deliveries; in a folder in several segments."""
    deliveries = [shuffled(*(documents(code, seed=n) for code in WORDS)) for n in (0, 1)]
    with ExitStack() as stack:
        if request.param == "embedded":
            where = str(tmp_path_factory.mktemp("languages") / "index")
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr(segment_writer, "FULL_TERMS", 200)
        else:
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        load(where, BY_LANGUAGE, *deliveries)
        with closing(open_priors(where)) as priors:  # a server stores those of each delivery
            priors.refresh(lambda done, total: None)
        yield stack.enter_context(open_searcher(where))


@pytest.fixture(scope="module", params=WORDS, ids=str)
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index of the documents of one language, loaded with its analyzer."""
    folder = str(tmp_path_factory.mktemp("language") / "index")
    analyzer = analyzer_for_language(language_group(request.param)).name
    load(folder, analyzer, *(documents(request.param, seed=n) for n in (0, 1)))
    with open_searcher(folder) as searcher:
        yield searcher


def test_each_language_ranks_as_if_it_were_alone(whole: Searcher, alone: Searcher) -> None:
    """Two languages with every model and context, with and without priors; on a server, with fewer models."""
    priors = {"importance": 0.5, "importance-surrounding": 0.25, "length": 1.0}
    first = [*WORDS].index(next(iter(alone.index.status(Languages())))) % 2
    problems = []
    for number, (model, context) in list(enumerate(MODELS))[first :: 2 if is_folder(whole) else 6]:
        candidates = ("all", "matching", None)[number % 3]
        ranking = {"model": model, "context": context, "candidates": candidates}
        problems += problems_of(whole, alone, QUERIES[number % 2 :: 2], **ranking)
        problems += problems_of(whole, alone, QUERIES[1 - number % 2 :: 2], priors=priors, **ranking)
    assert not problems, "\n".join(problems[:10])


def test_statistics_are_those_of_the_language(whole: Searcher, alone: Searcher) -> None:
    (language,) = alone.index.status(Languages())
    part = in_language(whole.index.snapshot(), language_group(language))
    own, marked = (
        index.statistics(index.analyzer.terms("bank die Bank Merkel 法院 unseen Titel"))
        for index in (alone.index, part)
    )
    assert [*marked.terms.values()] == [*own.terms.values()]
    assert own.collection.sentences > 0
    for name in {*own.collection.__struct_fields__} - {"bounds"}:
        assert getattr(marked.collection, name) == getattr(own.collection, name), name


@pytest.mark.parametrize(
    "query, said, expected",
    [
        ("die Banken", None, QueryLanguage("de")),
        ("the floods", None, QueryLanguage("en")),
        ("北京银行", None, QueryLanguage("zh")),
        ("Merkel", None, QueryLanguage("und", ("zh", "de", "en"))),
        ("Merkel", "de-CH", QueryLanguage("de", ("zh", "und", "en"))),
        ("Merkel", "deu", QueryLanguage("de", ("zh", "und", "en"))),
        ("language:en Merkel", None, QueryLanguage("en")),
        ("language:eng Merkel", None, QueryLanguage("en")),
        ("Merkel", "English", QueryLanguage("en", ("zh", "und", "de"))),
        ("nothing of the kind in any language of this index, I fear", None, QueryLanguage("en")),
        ("gericht*", None, QueryLanguage("de")),
        ("language:de -source:x", None, QueryLanguage(None)),
    ],
)
def test_a_query_is_in_the_language_that_is_named_or_has_its_words(
    whole: Searcher, query: str, said: str | None, expected: QueryLanguage
) -> None:
    found = find_language(whole.index.snapshot(), said_to_be_in(parse(query), said))
    assert (found.language, {*found.others}) == (expected.language, {*expected.others})


def test_a_code_of_three_letters_is_that_of_an_older_index_which_has_it() -> None:
    assert find_group("eng", ["de", "en"]) == "en"
    assert find_group("eng", ["en", "eng"]) == "eng"


def test_a_language_without_documents_is_an_error(whole: Searcher) -> None:
    with pytest.raises(UsageError, match=r"no document of .* is in the language fr: it has .*de"):
        whole.prepare(said_to_be_in(parse("bank"), "fr"), Ranking())


def test_what_has_no_words_is_searched_in_all_languages(whole: Searcher) -> None:
    sizes = {code: sum(len(d.sentences) for n in (0, 1) for d in documents(code, seed=n)) for code in WORDS}
    assert whole.search("language:zh -source:x").total == sizes["zh"]
    in_english = Searcher(in_language(whole.index.snapshot(), "en"))
    with_terms = [
        sentence
        for n in (0, 1)
        for document in documents("en", seed=n)
        for sentence in document.sentences
        if in_english.index.analyzer.terms(sentence.text)
    ]
    assert in_english.search("bank", candidates="all").total == len(with_terms)


def test_documents_of_no_known_language_are_one_language(tmp_path: Path) -> None:
    unknown = [
        Document(f"{n}", (Sentence(f"{n}.s0", "bank"),), language=c) for n, c in enumerate((None, "und"))
    ]
    load(str(tmp_path / "index"), BY_LANGUAGE, unknown)
    with open_searcher(str(tmp_path / "index")) as searcher:
        assert searcher.search("bank", candidates="all").total == searcher.search("bank").total == 2


def test_key_words_are_those_of_one_language(whole: Searcher) -> None:
    with pytest.raises(UsageError, match="key words are those of one language here"):
        find_key_words(whole, parse("-source:x after:2000"))
    named = find_key_words(whole, parse("language:de source:x"), min_count=1)
    assert named == find_key_words(whole, said_to_be_in(parse("language:de source:x"), "de"), min_count=1)
    german, english = (said_to_be_in(parse("Merkel"), code) for code in ("de", "en"))
    words = find_key_words(whole, german, min_count=1).words
    assert {word.term.partition("|")[0] for word in words} == {"de"}
    for parts in ((german, english), (german, said_to_be_in(parse("Bank"), "de"))):
        both = find_key_words_both_ways(whole, *parts, min_count=1)
        assert both == [find_key_words(whole, *pair, min_count=1) for pair in (parts, parts[::-1])]


def test_without_a_language_there_are_no_terms(whole: Searcher) -> None:
    with pytest.raises(UsageError, match="needs a language: name one with --query-language"):
        whole.index.analyzer.terms("bank")


def test_a_changed_language_gives_a_document_other_terms(anywhere: str) -> None:
    first = [Document("a", (Sentence("a.s0", "Die Banken"),), language="de"), *documents("en")]
    load(anywhere, BY_LANGUAGE, first, [Document("a", first[0].sentences, language="en")])
    with open_searcher(anywhere) as searcher:
        assert searcher.index.status(Languages()) == {"en": 15}
        assert [hit.sentence_id for hit in searcher.search("die Banken", 1).hits] == ["a.s0"]
        counted = searcher.index.statistics(["de|bank", "en|banken"]).terms
        assert [each.sf for each in counted.values()] == [0, 1]


def test_relative_dates_count_from_the_newest_document_in_any_language(anywhere: str) -> None:
    days = {("a", "en", "The banks paid"): "2017-03-20", ("b", "en", "A bank paid"): "2017-03-12"}
    days[("c", "de", "Die Banken zahlten")] = "2017-03-24"
    given = [
        Document(id, (Sentence(f"{id}.s0", text),), language=language, date=day)
        for (id, language, text), day in days.items()
    ]
    load(anywhere, BY_LANGUAGE, given)
    with open_searcher(anywhere) as searcher:
        for query, expected in {
            "bank paid after:7d": ["a.s0"],
            "bank paid after:2w": ["a.s0", "b.s0"],
            "Banken zahlten after:7d": ["c.s0"],
            "after:7d": ["a.s0", "c.s0"],
        }.items():
            assert sorted(hit.sentence_id for hit in searcher.search(query, 9).hits) == expected, query


def test_a_sentence_in_another_language_has_no_score(whole: Searcher) -> None:
    prepared = whole.prepare(said_to_be_in(parse("Merkel"), "de"), Ranking())
    own, other = (next(d.sentences[0].id for d in documents(code) if d.sentences) for code in ("de-AT", "en"))
    scores, is_hit = score_given(prepared, [own, other])
    assert np.isfinite(scores).tolist() == [True, False] and not is_hit[1]
    assert explain(prepared, own).score == pytest.approx(scores[0])
    with pytest.raises(UsageError, match="is in the language en, and the query in de"):
        explain(prepared, other)


def test_only_esr_makes_the_requests_of_an_index_by_language(whole: Searcher) -> None:
    with pytest.raises(UsageError, match="an index by language has no template"):
        request_template(Ranking(), whole.index)
    if is_folder(whole):
        return
    prepared = whole.prepare("Merkel", Ranking("2si"))
    best = prepared.search(3, records=False).hits
    body = {**raw_request(prepared, 3, filters=NO_FILTERS), "_source": False}
    answer = http("POST", f"{whole.index.where}/_search?search_type=dfs_query_then_fetch", body)
    assert [hit["_id"] for hit in answer["hits"]["hits"]] == [hit.sentence_id for hit in best]
    with pytest.raises(UsageError, match="--standalone is not for an index by language"):
        raw_request(prepared, 3, filters=NO_FILTERS, standalone=True)
    with pytest.raises(
        esr_client.EsrClientError, match="has an analyzer for each language: search it with esr"
    ):
        esr_client.Index(whole.index.where).describe()


def test_readiness_asks_for_the_scripts_of_a_search(whole: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_folder(whole):
        return
    body = raw_request(whole.prepare("Merkel", Ranking("2si")), 3, filters=NO_FILTERS)
    asked: list[Any] = []
    monkeypatch.setattr(
        "esr.elastic.index.search", lambda cluster, **body: asked.append(cluster.dialect.search(body))
    )
    whole.index.status(Readiness())
    of_search, of_readiness = ({*re.findall(r'"id": "([^"]+)"', json.dumps(each))} for each in (body, asked))
    assert of_search and of_search <= of_readiness


def test_stored_parses_have_the_terms_of_the_language(anywhere: str) -> None:
    document = Document("a", (Sentence("a.s0", "Banken zahlten"),), language="de")
    load(anywhere, BY_LANGUAGE, [document, *documents("en")])
    parse_of = (ParseWord("Banken", 1), ParseWord("zahlten", -1))
    with open_searcher(anywhere) as searcher:
        with searcher.index.enrichment() as enrichment:
            recipe = Recipe((PARSE,), {"made": "by hand"})
            enrichment.store(recipe, [("a", [SentenceEnrichment({}, None, parse_of)])])
            enrichment.finish(recipe)
        assert searcher.index.read(["a.s0"], Parses()) == [encode(parse_of, get_analyzer("by-language:de"))]


# What else is counted and found in a language: names, meanings, days


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    spoken = (word.casefold() for of_language in WORDS.values() for word in of_language)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.support.fake_enricher.VOCABULARY", [*dict.fromkeys([*VOCABULARY, *spoken])])
        # The type of a name is the one that most sentences of all languages give it.
        patch.setitem(NAMES, LOCATION, ["Paris", "Ohio"])
        folder = str(write_tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny", 24))
        patch.setenv("ESR_ENCODER", folder)
        yield folder


def dated(language: str | None) -> list[Document]:
    """Documents with days and sources."""
    return [
        structs.replace(each, date=f"2024-{n % 3 + 1:02}-{n % 5 + 1:02}", source=("Wire", "Post")[n % 2])
        for n, each in enumerate(documents(language, 40))
    ]


def load_enriched(where: str, analyzer: str, given: Sequence[Document], encoder: str) -> Searcher:
    load(where, analyzer, given)
    searcher = open_searcher(where)
    run_enrichment(searcher.index, FakeEnricher(("entities",)))
    run_enrichment(searcher.index, Enricher([VECTORS], vectors=VectorSettings(encoder, 0.5)))
    return searcher


@pytest.fixture(scope="module")
def enriched(encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = str(tmp_path_factory.mktemp("enriched") / "index")
    with load_enriched(where, BY_LANGUAGE, shuffled(*map(dated, WORDS)), encoder) as searcher:
        yield searcher


@pytest.fixture(scope="module", params=WORDS, ids=str)
def enriched_alone(
    request: pytest.FixtureRequest, encoder: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searcher]:
    where = str(tmp_path_factory.mktemp("enriched-alone") / "index")
    analyzer = analyzer_for_language(language_group(request.param)).name
    with load_enriched(where, analyzer, dated(request.param), encoder) as searcher:
        yield searcher


def language_of(alone: Searcher) -> str:
    (language,) = alone.index.status(Languages())
    return language_group(language)


def prepare_both(enriched: Searcher, alone: Searcher, query: str, ranking: Ranking) -> list[PreparedQuery]:
    said = said_to_be_in(parse(query), language_of(alone))
    return [alone.prepare(query, ranking), enriched.prepare(said, ranking)]


HYBRID = Ranking.from_dict({"rerank": [{"signal": "meaning", "w": 8}]})
BOTH = pytest.mark.parametrize("candidates", ["all", "matching"])


@BOTH
@pytest.mark.parametrize("query", ["bank", "Merkel", "arm*"])
def test_facets_days_and_names_are_those_of_the_language(
    enriched: Searcher, enriched_alone: Searcher, query: str, candidates: str
) -> None:
    by = ByField(("source", "month", "language", "person", "organization"), 10)
    counted = []
    for each in prepare_both(enriched, enriched_alone, query, Ranking(candidates=candidates)):
        selection = Selection(each.index, NO_FILTERS, each.all_words)
        names = list_names(selection)
        counted.append(
            (
                each.index.count([each.matching], NO_FILTERS, by),
                build_timeline([each], NO_FILTERS, "day").as_dict(),
                names,
                build_network(selection, names),
            )
        )
    assert counted[1] == counted[0]


def test_sentences_of_a_meaning_are_those_of_the_language(
    enriched: Searcher, enriched_alone: Searcher
) -> None:
    for query in QUERIES:
        alone, part = (each.search(200) for each in prepare_both(enriched, enriched_alone, query, HYBRID))
        assert as_pairs(part.hits) == as_pairs(alone.hits) and part.total == alone.total, query
        name, vector = encode_query(enriched.index, query)
        indexes = enriched_alone.index, in_language(enriched.index, language_of(enriched_alone))
        own, found = (index.nearest(name, vector, 30, None, NO_FILTERS) for index in indexes)
        assert [hit[:2] for hit in found] == [hit[:2] for hit in own] and own


@pytest.mark.parametrize("by", ["month", "source"])
def test_frequencies_are_per_million_words_of_the_language(
    enriched: Searcher, enriched_alone: Searcher, by: Grouping
) -> None:
    queries = [parse("Merkel"), parse('"bank"')]
    said = [said_to_be_in(query, language_of(enriched_alone)) for query in queries]
    alone, part = (
        count_frequencies(searcher, read, NO_FILTERS, by)
        for searcher, read in ((enriched_alone, queries), (enriched, said))
    )
    assert part.as_dict() == alone.as_dict() and sum(alone.words)


def test_queries_in_several_languages_have_no_words_in_common(enriched: Searcher) -> None:
    queries = [parse("language:de Banken"), parse("language:en floods")]
    with pytest.raises(UsageError, match="the queries are in several languages, de, en, each with words"):
        count_frequencies(enriched, queries, NO_FILTERS)


def test_a_timeline_of_several_languages_counts_each_query_in_its_own(enriched: Searcher) -> None:
    queries = [said_to_be_in(parse(text), code) for text, code in (("gericht*", "de"), ("floo*", "en"))]
    prepared = [enriched.prepare(query, Ranking()) for query in queries]
    first, second = (build_timeline([each], NO_FILTERS, "month") for each in prepared)
    both = build_timeline(prepared, NO_FILTERS, "month")
    assert [*both.series] == [*first.series, *second.series] and both.series[1].total
    dated_sentences = sum(len(each.sentences) for code in WORDS for each in dated(code))
    assert sum(both.sentences) == dated_sentences


def test_a_literal_query_is_read_as_words_when_its_language_is_looked_for(enriched: Searcher) -> None:
    for query in ("language:fr Banken", "-Banken", "source: Banken"):
        prepared = enriched.prepare(query, Ranking(), literal=True)
        assert chosen_language(prepared.index).code == "de", query
        assert "de|bank" in enriched.interpret(query, literal=True).counts
