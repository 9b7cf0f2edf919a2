"""Both engines store the same enrichment, filter by it alike, and rank alike before, during and after it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

import esr
from esr.elastic import statistics
from esr.folder.format import manifest
from esr.folder.write import segment_writer
from esr.index.filters import FACET_FIELDS, Filters, resolve_name
from esr.index.hits import SentenceRecord
from esr.index.names import name_key
from esr.index.questions import ByField, Hits, Names, NamesWithPrefix, Parses, Quotes, Summary, Values
from esr.index.runs import enrichment_run
from esr.plans.plan import Condition, HasQuote, HasTerm, Not, SaidBy
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.attributes import ATTRIBUTES, value_key
from esr.text.document import PROBABLE, Document
from esr.text.sentence_enrichment import PARTS, SentenceEnrichment
from tests.index.test_parity import (
    FIRST_STAGES,
    QUERIES,
    SPLITS,
    Engines,
    compare_answers,
    corpus,
    random_documents,
    test_both_engines_have_the_same_statistics,
)
from tests.support.elasticsearch import document, fresh, http, load
from tests.support.fake_enricher import ENCODER, FakeEnricher
from tests.support.index_contents import NOT_ENRICHED, enrich, expected, read_enrichment
from tests.support.processes import wait_until
from tests.support.runs import SHARDS

ENTITIES = [
    ("person:barack obama’s",),
    ("location:Barack Obama",),
    ("BARACK OBAMA",),
    ("organization:the U.N.", "lukasz"),
    ("Ann: Bee",),
    ("person:Ann: Bee", "location:Paris"),
    ("Nobody", "organization:UN"),
    ("nothing:Paris",),
]

NOTHING = Filters()


@contextmanager
def load_both_engines(url: str, folder: str, shards: int) -> Iterator[Engines]:
    """Two loads each, not enriched."""
    with fresh(url) as where:
        for location, options in ((folder, {}), (where, {"shards": shards})):
            load(location, corpus(), **options)
            load(location, second_batch(), if_exists="append")
        with open_searcher(folder) as embedded, open_searcher(where) as elasticsearch:
            yield Engines(embedded, elasticsearch)


@pytest.fixture(params=SHARDS, ids="{} shards".format)
def fresh_engines(
    request: pytest.FixtureRequest, elasticsearch_url: str, tmp_path: Path
) -> Iterator[Engines]:
    with load_both_engines(elasticsearch_url, str(tmp_path / "index"), request.param) as engines:
        yield engines


@pytest.fixture(scope="module", params=SHARDS, ids="{} shards".format)
def engines(
    request: pytest.FixtureRequest, elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engines]:
    folder = str(tmp_path_factory.mktemp("parity") / "index")
    with load_both_engines(elasticsearch_url, folder, request.param) as engines:
        for searcher in engines:
            enrich(searcher.index)
        http("POST", f"{engines.elasticsearch.index.where}/_refresh")
        yield engines


def second_batch() -> list[Document]:
    return list(random_documents(60, 20, seed=2))


Splits = list[tuple[str, str | None]]


def all_differences(
    engines: Engines, filters: Filters = NOTHING, queries: list[str] = QUERIES, splits: Splits = SPLITS
) -> list[str]:
    return [
        problem
        for (model, context), query in product(splits, queries)
        for problem in compare_answers(engines, query, filters, 500, model=model, context=context)
    ]


def test_features_and_parses_of_the_documents_need_no_enrichment(fresh_engines: Engines) -> None:
    engines = fresh_engines
    enrichment = read_enrichment(engines.embedded.index, corpus())
    assert read_enrichment(engines.elasticsearch.index, corpus()) == enrichment
    assert enrichment["r5/1"]["features"] == {"subj": 1 / 3} and enrichment["r5/1"]["parse"]
    assert enrichment["r5/3"]["quotes"]
    assert enrichment["r5/0"] == NOT_ENRICHED
    assert engines.embedded.index.status(Summary())["enrichment"] == []
    assert engines.elasticsearch.index.status(Summary())["enrichment"] == []


class PausingEnricher(FakeEnricher):
    """Pauses when half of the documents have been enriched."""

    pause: Callable[[], None]

    def enrich(self, document: Document) -> list[SentenceEnrichment]:
        if len(self.enriched_ids) == (len(corpus()) + len(second_batch())) // 2:
            self.pause()
        return super().enrich(document)


def test_scores_stay_the_same_while_sentences_are_updated(
    fresh_engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Updates leave deleted entries behind, which Elasticsearch counts in its term statistics.

    First stages only: the embedded index of this test has no parses.
    """
    engines = fresh_engines
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 40)
    monkeypatch.setattr(statistics, "MAX_AGE", 0.0)
    where = engines.elasticsearch.index.where
    assert not all_differences(engines, splits=FIRST_STAGES)
    problems: list[str] = []
    deleted_entries: list[int] = []  # at the end of each comparison
    ended, failed = threading.Event(), threading.Event()

    def wait_for_comparisons() -> None:
        """The second of them begins during the pause."""
        before = len(deleted_entries)
        wait_until(lambda: failed.is_set() or len(deleted_entries) >= before + 2, "a comparison", 300)

    def enrich_twice() -> None:
        try:
            for version in ("0", "1"):
                with open_searcher(where) as other:
                    enricher = PausingEnricher(version=version)
                    enricher.pause = wait_for_comparisons
                    enrich(other.index, enricher)
        finally:
            ended.set()

    with ThreadPoolExecutor(1) as pool:
        enriching = pool.submit(enrich_twice)
        try:
            while not ended.is_set():
                problems += all_differences(engines, queries=QUERIES[:1], splits=FIRST_STAGES)
                test_both_engines_have_the_same_statistics(engines)
                http("POST", f"{where}/_refresh")
                counts = http("GET", f"{where}/_stats/docs")["_all"]["primaries"]["docs"]
                deleted_entries.append(counts["deleted"])
        except BaseException:
            failed.set()
            raise
        enriching.result()
    assert not problems
    assert len(deleted_entries) >= 4  # two for each pause
    assert any(deleted_entries), "no deleted entries: the test shows nothing"
    test_both_engines_have_the_same_statistics(engines)
    assert not all_differences(engines, splits=FIRST_STAGES)


def test_both_engines_store_what_the_enricher_returned(engines: Engines) -> None:
    documents = [*corpus(), *second_batch()]
    for searcher in engines:
        enriched = {
            name: enrichment
            for document in documents
            for name, enrichment in expected(FakeEnricher(), document, searcher.index.analyzer).items()
        }
        assert read_enrichment(searcher.index, documents) == enriched
        assert len({repr(enrichment) for enrichment in enriched.values()}) > 100
        entries = searcher.index.status(Summary())["enrichment"]
        assert {(m["part"], m["documents"]) for m in entries} == {(part, len(documents)) for part in PARTS}
        assert entries[0]["made_with"] == {"fake": "1", "encoder": ENCODER}
    first = [list(read_enrichment(searcher.index, documents).values()) for searcher in engines]
    assert first[0] == first[1]


@pytest.mark.parametrize("entities", ENTITIES)
def test_a_filter_by_entity_selects_the_same_on_both(engines: Engines, entities: tuple[str, ...]) -> None:
    filters = Filters(entities=entities)
    assert not all_differences(engines, filters, QUERIES[:2])
    assert not all_differences(engines, Filters(entities=entities, sources=("random",)), QUERIES[1:2])
    hits = engines.embedded.search("flood", 500, candidates="all", filters=filters).hits
    keys = [key for text in entities for key in resolve_name(engines.embedded.index, text)]
    assert keys == [key for text in entities for key in resolve_name(engines.elasticsearch.index, text)]
    assert bool(hits) == bool(keys)
    for hit in hits:
        assert hit.record is not None and hit.record.entities
        assert set(keys) & keys_of(hit.record)


def keys_of(record: SentenceRecord) -> set[str]:
    return {name_key(form) for forms in (record.entities or {}).values() for form in forms}


def test_both_engines_list_the_same_names_and_sources(engines: Engines) -> None:
    indexes = [searcher.index for searcher in engines]
    for prefix in ("", "a", "bar", "łu", "z"):
        for limit in (1, 3, 100):
            keys = [index.vocabulary(NamesWithPrefix(name_key(prefix), limit)) for index in indexes]
            assert keys[0] == keys[1]
    assert len(indexes[0].vocabulary(NamesWithPrefix("", 100))) == 7
    names = [
        index.vocabulary(Names([*index.vocabulary(NamesWithPrefix("", 100)), "nobody"])) for index in indexes
    ]
    assert names[0] == names[1] and len(names[0]) == 7
    assert names[0]["lukasz"].form == "Łukasz"
    sources = [index.vocabulary(Values("source")).with_prefix("", 100) for index in indexes]
    assert sources[0] == sources[1] and sources[0]


FACETED = (Filters(), Filters(entities=("Barack Obama",)), Filters(sources=("RANDOM",)))


def test_facets_count_the_same_on_both(engines: Engines) -> None:
    several = Filters(sources=("RANDOM",), entities=("Barack Obama",), date_to=2_000_000_000_000)
    # With several filters, each field is counted under filters of its own, some of which all share.
    requests = [*((filters, False) for filters in FACETED), (several, True)]
    for query, rule in zip(QUERIES, ("matching", "context", "all", "matching"), strict=True):
        for filters, without_own in requests:
            for size in (1, 2, 100):
                facets = []
                for searcher in engines:
                    condition = searcher.prepare(query, Ranking(candidates=rule)).matching
                    by = ByField(FACET_FIELDS, size, without_own)
                    facets += searcher.index.count([condition], filters, by)
                assert facets[0] == facets[1]
                assert list(facets[0]) == list(FACET_FIELDS)
                assert all(counts and len(counts) <= size for counts in facets[0].values())


def attribute_keys(record: SentenceRecord, name: str) -> set[str]:
    """The keys of the document's values of an attribute."""
    values = getattr(record, ATTRIBUTES[name]) or ()
    return {value_key(value) for value in ([values] if isinstance(values, str) else values)}


@pytest.mark.parametrize("filters", FACETED)
def test_facets_count_the_sentences_of_the_filters(engines: Engines, filters: Filters) -> None:
    index = engines.embedded.index
    every_sentence = Not(HasTerm("a term that no sentence has"))
    records = [hit.record for hit in index.select(every_sentence, 10_000, filters, Hits()).hits if hit.record]
    (facets,) = index.count([None], filters, ByField(FACET_FIELDS, 100))
    (wider,) = index.count([None], filters, ByField(FACET_FIELDS, 100, without_own=True))
    for field in FACET_FIELDS:
        (alone,) = index.count([None], filters.without_field(field), ByField([field], 100))
        assert alone == {field: wider[field]}
        for value, count in facets[field]:
            if field == "source":
                assert count == sum(r.source == value for r in records)
            elif field == "month":
                assert count == sum((r.date or "").startswith(value) for r in records)
            elif field == "language":
                assert count == sum((r.language or "").lower() == value for r in records)
            elif field in ATTRIBUTES:
                assert count == sum(value_key(value) in attribute_keys(r, field) for r in records)
            else:
                assert count == sum(name_key(value) in keys_of(r) for r in records)
                (name,) = engines.embedded.index.vocabulary(Names([name_key(value)])).values()
                assert (name.type, name.form) == (field, value)


def test_facets_of_known_names_take_one_request(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    for reader in ("vocabulary", "statistics"):
        monkeypatch.setattr(f"esr.elastic.{reader}.MAX_AGE", 1e9)
    index = engines.elasticsearch.index
    condition = engines.elasticsearch.prepare("flood", Ranking()).matching
    client = index.cluster.client  # type: ignore[attr-defined]
    filters = Filters(sources=("RANDOM",), entities=("Barack Obama",), date_to=2_000_000_000_000)
    by = ByField(FACET_FIELDS, 5, without_own=True)
    index.count([condition], filters, by)
    requests, send = [], client.transport.perform_request
    monkeypatch.setattr(
        client.transport, "perform_request", lambda *a, **k: (requests.append(a), send(*a, **k))[1]
    )
    index.count([condition], filters, by)
    assert len(requests) == 1


@pytest.mark.parametrize(
    "condition",
    [
        HasQuote(),
        SaidBy(("Barack Obama",)),
        SaidBy(("Barack Obama",), probable=True),
        SaidBy(("ŁUKASZ",)),
        SaidBy(("Judge",)),
        SaidBy(("nobody", "UN")),
    ],
)
def test_quotations_are_found_alike_on_both(engines: Engines, condition: Condition) -> None:
    documents = [*corpus(), *second_batch()]
    ids = [sentence.id for document in documents for sentence in document.sentences]
    wanted = None if isinstance(condition, HasQuote) else {*map(name_key, condition.keys)}  # type: ignore[union-attr]
    for searcher in engines:
        quotes = dict(zip(ids, searcher.index.read(ids, Quotes()), strict=True))
        said = [
            id
            for id, found in quotes.items()
            if any(
                wanted is None
                or (
                    wanted & {*map(name_key, (q.speaker or "", q.name or ""))}
                    and (condition.probable or q.certainty != PROBABLE)  # type: ignore[union-attr]
                )
                for q in found
            )
        ]
        assert searcher.index.count([condition, Not(condition)], NOTHING) == [len(said), len(ids) - len(said)]
        hits = searcher.index.select(condition, 10_000, NOTHING, Hits(records=False)).hits
        assert {hit.sentence_id for hit in hits} == {*said}
    assert len(said) == 0 if "nobody" in (wanted or ()) else 10 < len(said) < len(ids)


def test_records_of_hits_have_enrichment(engines: Engines) -> None:
    for embedded, elasticsearch in zip(*(s.search("flood court", 30).hits for s in engines), strict=True):
        assert embedded.record == elasticsearch.record
        assert embedded.record is not None and embedded.record.features


def test_an_unknown_facet_or_sentence_is_refused(engines: Engines) -> None:
    for searcher in engines:
        with pytest.raises(esr.errors.UsageError, match="unknown facet 'persn': did you mean 'person'"):
            searcher.index.count([None], Filters(), ByField(["persn"], 3))
        with pytest.raises(esr.errors.UsageError, match="no sentence 'none'"):
            searcher.index.read(["r5/1", "none"], Parses())


def test_parts_can_be_enriched_one_after_another_on_both(tmp_path: Path, elasticsearch_url: str) -> None:
    """`--only features`, then `--only entities,parse`, then other features: each retains the others."""
    documents = corpus()
    with fresh(elasticsearch_url) as where:
        for location in (str(tmp_path / "index"), where):
            load(location, documents)
            with open_searcher(location) as searcher:
                steps = [
                    (("features",), "1"),
                    (("entities", "parse", "vectors", "quotes"), "1"),
                    (("features",), "2"),
                ]
                for parts, version in steps:
                    assert enrich(searcher.index, FakeEnricher(parts, version)).documents == len(documents)
                    assert enrich(searcher.index, FakeEnricher(parts, version)).documents == 0
                assert enrich(searcher.index, FakeEnricher(("entities",), "1")).documents == 0
                if location == where:
                    http("POST", f"{where}/_refresh")
                stored = read_enrichment(searcher.index, documents)
                for document in documents:
                    old = expected(FakeEnricher(version="1"), document, searcher.index.analyzer)
                    new = expected(FakeEnricher(version="2"), document, searcher.index.analyzer)
                    for name, enrichment in old.items():
                        assert stored[name] == {**enrichment, "features": new[name]["features"]}


# When the tools of one language change, only its documents are enriched again, on both engines.


LANGUAGES = ("en", "fr", None, "de", "fr-CA", "EN-gb", "French")
DOCUMENTS = [
    replace(
        document(f"n{n}", *(f"storm {n} {m}" for m in range(n % 4))), language=LANGUAGES[n % len(LANGUAGES)]
    )
    for n in range(40)
]
FRENCH = [d.id for d in DOCUMENTS if d.language in ("fr", "fr-CA", "French")]
NAMELESS = [d.id for d in DOCUMENTS if d.language is None]
ENGLISH = [d.id for d in DOCUMENTS if d.language in ("en", "EN-gb")]
TOOLS = {"model en": "1", "lexicon": "1", "spacy": "1"}


def assert_stored(where: str, variants: Mapping[str, str], default: str) -> None:
    """Each document has the enrichment of its variant."""
    with open_searcher(where) as searcher:
        expected_enrichment = {
            name: enrichment
            for d in DOCUMENTS
            for name, enrichment in expected(
                FakeEnricher(variant=variants.get(d.id, default)), d, searcher.index.analyzer
            ).items()
        }
        stored = read_enrichment(searcher.index, DOCUMENTS)
        assert {name: stored[name] for name in stored if stored[name] != expected_enrichment[name]} == {}


def run(where: str, tools: Mapping[str, str], variant: str = "", **options: object) -> list[str]:
    """The ids of the documents that were enriched. Checks the report."""
    enricher = FakeEnricher(tools=tools, variant=variant, **options)  # type: ignore[arg-type]
    with open_searcher(where) as searcher:
        report = enrich(searcher.index, enricher)
    assert report.already == len(DOCUMENTS) - report.documents
    return enricher.enriched_ids


@pytest.fixture
def where(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An index of all documents, each with the enrichment by TOOLS."""
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 60)
    load(anywhere, DOCUMENTS)
    assert len(run(anywhere, TOOLS)) == len(DOCUMENTS)
    assert run(anywhere, TOOLS) == []
    return anywhere


@pytest.mark.slow
def test_a_new_model_reads_the_documents_in_its_language(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 3)
    with_french = {**TOOLS, "model fr": "1"}
    assert run(where, with_french, variant="+") == FRENCH
    assert_stored(where, dict.fromkeys(FRENCH, "+"), "")
    assert run(where, with_french) == []
    assert run(where, TOOLS, variant="-") == FRENCH, "without the model"
    assert_stored(where, dict.fromkeys(FRENCH, "-"), "")


@pytest.mark.slow
def test_english_tools_matter_to_english_documents_and_those_that_count_as_such(where: str) -> None:
    assert run(where, {**TOOLS, "model en": "2"}, variant="2") == ENGLISH
    assert run(where, {**TOOLS, "model en": "2", "lexicon": "2"}, variant="3", parts=PARTS) == ENGLISH
    by_default = {**TOOLS, "model en": "2", "lexicon": "2", "language": "en"}
    assert run(where, by_default, variant="4") == NAMELESS
    assert_stored(where, dict.fromkeys(ENGLISH, "3") | dict.fromkeys(NAMELESS, "4"), "")


@pytest.mark.slow
def test_another_tool_of_all_languages_reads_all_documents(where: str) -> None:
    assert len(run(where, {**TOOLS, "enrichment": "2"}, variant="2")) == len(DOCUMENTS)
    assert_stored(where, {}, "2")


@pytest.mark.slow
def test_an_interrupted_run_over_one_language_resumes(where: str) -> None:
    with_french = {**TOOLS, "model fr": "1"}
    half = FakeEnricher(tools=with_french, variant="1")
    with open_searcher(where) as searcher:
        enrich(searcher.index, half, slice=(1, 2))
    assert 0 < len(half.enriched_ids) < len(FRENCH)
    rest = run(where, with_french, variant="2")
    assert sorted(half.enriched_ids + rest) == sorted(FRENCH)
    assert_stored(where, dict.fromkeys(half.enriched_ids, "1") | dict.fromkeys(rest, "2"), "")


@pytest.mark.slow
def test_parts_of_one_language_are_enriched_one_by_one(where: str) -> None:
    with_french = {**TOOLS, "model fr": "1"}
    assert run(where, with_french, parts=("parse",)) == FRENCH
    assert run(where, with_french, parts=("parse",)) == []
    assert run(where, with_french, parts=("entities", "parse")) == FRENCH
    assert run(where, with_french) == FRENCH
    assert run(where, with_french) == []
    assert_stored(where, {}, "")


@pytest.mark.slow
def test_a_run_over_one_language_leaves_few_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents between those that were enriched become part of the new layers."""
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 1)
    where = tmp_path / "index"
    load(str(where), DOCUMENTS)
    run(str(where), TOOLS)
    largest = 0

    def step(documents: int) -> None:
        nonlocal largest
        largest = max(largest, len(manifest.read_manifest(where).layers))

    with open_searcher(str(where)) as searcher:
        enrich(searcher.index, FakeEnricher(tools={**TOOLS, "model fr": "1"}), on_progress=step)
    commit = manifest.read_manifest(where)
    assert len(commit.layers) == 1 and len(commit.recipes) == 1 and largest <= 5
