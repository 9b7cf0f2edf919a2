"""Concordances and collocations beside a plain scan of the texts, in three languages, on both engines."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import esr
from esr.cli.main import main
from esr.corpus.choices import GROUPINGS, MEASURES, ORDERS, SORTS, Grouping
from esr.corpus.collocations import (
    By,
    Reach,
    contrast_both_ways,
    contrast_collocations,
    find_collocations,
)
from esr.corpus.concordance import Concordance, LineOptions, build_concordance, split_node
from esr.corpus.frequencies import SURE, count_frequencies, find_key_words, find_key_words_both_ways
from esr.elastic.search import counts
from esr.errors import UsageError
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import Texts
from esr.plans.plan import HasWords
from esr.query import parse
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer import get_analyzer
from esr.text.document import Document
from tests.support.elasticsearch import document, fresh, load
from webui.app import create_app
from webui.running.settings import Settings

pytestmark = pytest.mark.slow

VOCABULARY = {
    language: text.split()
    for language, text in {
        "english": "The climate change changes Climate policy of café and river, not Change rivers",
        "german": "Das Klima der Klimawandel und Wandel über Flüsse, Fluss nicht Straße Klimas",
        "chinese": "气候变化 政策 河流 中国 气候 变 化",
    }.items()
}
QUERIES = {
    "english": ["climate change", "climate", "clim*", '"change climate" OR "the river"', "the", "Cafe"],
    "german": ["klima", "klima*", '"der klimawandel"', "FLÜSSE", "und"],
    "chinese": ["气候", "气候变化", "中国"],
}


def random_documents(language: str) -> list[Document]:
    rng = random.Random(7)
    words, blank = VOCABULARY[language], "" if language == "chinese" else " "
    return [
        document(
            f"d{n:02}",
            *(blank.join(rng.choices(words, k=rng.randint(1, 14))) + "." for _ in range(rng.randint(1, 5))),
            title=blank.join(words[:3]),
            date=f"2017-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
            source=rng.choice(["b.org", "a.org", "C.org"]),
            language={"english": "en", "german": "de", "chinese": "zh"}[language],
        )
        for n in range(60)
    ]


ENGINES = ["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]


@pytest.fixture(scope="module", params=list(VOCABULARY))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=ENGINES)
def searcher(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, language: str
) -> Iterator[Searcher]:
    analyzer = {"english": "english-stem", "german": "german", "chinese": "multilingual"}[language]
    with ExitStack() as stack:
        if request.param == "embedded":
            where = str(tmp_path_factory.mktemp(language) / "index")
        else:
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        load(where, random_documents(language), analyzer=analyzer)
        yield stack.enter_context(open_searcher(where))


def make(searcher: Searcher, query: str, **options: Any) -> Concordance:
    return build_concordance(searcher, parse(query), NO_FILTERS, LineOptions(**options))


def scan(searcher: Searcher, query: str) -> list[tuple[str, list[str], list[str], list[str]]]:
    """Each occurrence by a plain scan of the export: sentence id, words before, its own, words after."""
    split = get_analyzer("words").terms
    wanted = []
    for part in query.replace('"', "").split(" OR "):
        wanted.append((split(part.rstrip("*")), part.endswith("*")))
    found = []
    for stored in searcher.index.documents():
        for sentence in stored.sentences:
            words, at = split(sentence.text), 0
            while at < len(words):
                for phrase, is_prefix in wanted:
                    end = at + len(phrase)
                    is_equal = words[at:end] == phrase
                    if is_equal or (is_prefix and at < len(words) and words[at].startswith(phrase[0])):
                        found.append((sentence.id, words[:at], words[at:end], words[end:]))
                        at = end - 1
                        break
                at += 1
    return found


def test_a_concordance_is_that_of_a_plain_scan(searcher: Searcher, language: str) -> None:
    split = get_analyzer("words").terms
    for query in QUERIES[language]:
        made = make(searcher, query, k=10_000, width=10_000)
        expected = scan(searcher, query)
        assert expected, query
        texts = {each.id: each.text for one in searcher.index.documents() for each in one.sentences}
        assert Counter((line.sentence_id, *split(line.node)) for line in made.lines) == Counter(
            (id, *node) for id, _, node, _ in expected
        )
        assert all(line.node in texts[line.sentence_id] for line in made.lines)
        assert made.sentences == made.read == len({id for id, *_ in expected})


def test_lines_are_sorted_by_the_words_beside_the_node(searcher: Searcher, language: str) -> None:
    """Where the sentence ends, lines come last."""
    query = QUERIES[language][0]
    expected = scan(searcher, query)
    for side in ("left", "right"):
        for first in (1, 2, 3):
            made = make(searcher, query, k=10_000, sort=f"{side}{first}")
            keys = sorted(
                ((left[::-1] if side == "left" else right)[first - 1 : 3] for _, left, _, right in expected),
                key=lambda words: [*words, "\U0010ffff"],
            )
            assert [line.group for line in made.lines] == [words[0] if words else "" for words in keys]
            of_sentence = Counter((id, tuple(node)) for id, _, node, _ in expected)
            assert len(made.lines) == of_sentence.total()
            by_id: dict[str, list[list[str]]] = {}
            for id, left, _, right in expected:
                by_id.setdefault(id, []).append((left[::-1] if side == "left" else right)[first - 1 : 3])
            for place, line in enumerate(made.lines):
                assert keys[place] in by_id[line.sentence_id]


def test_dates_sources_and_the_node_order_lines(searcher: Searcher, language: str) -> None:
    query = QUERIES[language][1]
    newest = make(searcher, query, k=10_000).lines
    dates = [line.date or "" for line in newest]
    assert dates == sorted(dates, reverse=True)
    assert make(searcher, query, k=7).lines == newest[:7]
    oldest = [line.date or "" for line in make(searcher, query, k=10_000, sort="oldest").lines]
    assert oldest == sorted(oldest)
    sources = [line.source for line in make(searcher, query, k=10_000, sort="source").lines]
    assert sources == sorted(sources, key=lambda source: str(source).casefold()) and len(set(sources)) == 3
    nodes = [get_analyzer("words").terms(line.node) for line in make(searcher, query, sort="node").lines]
    assert nodes == sorted(nodes)
    assert Counter(make(searcher, query, k=10_000, sort="best").lines) == Counter(newest)


@pytest.mark.parametrize("name", list(VOCABULARY))
def test_the_words_of_an_index_give_the_lines_of_its_texts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, documents = str(tmp_path / "index"), random_documents(name)
    load(where, documents[:25])
    load(where, [*documents[25:], document("undated", *QUERIES[name])], if_exists="append")
    made: list[list[Any]] = []
    for worth in (4_000, 0):  # by the words, then by the texts
        monkeypatch.setattr("esr.folder.search.counts.WORDS_PER_TEXT", worth)
        with open_searcher(where) as searcher:
            texts = searcher.index.select(HasWords(("the",)), 9, NO_FILTERS, Texts())
            assert (texts.read_words() is None) == (not worth or not texts.total)
            made.append([make(searcher, query, sort=s, k=999) for query in QUERIES[name] for s in SORTS])
            first = [make(searcher, query, sort=s, k=40).lines for query in QUERIES[name] for s in SORTS]
            assert first == [each.lines[:40] for each in made[-1]]
            queries = list(map(parse, QUERIES[name]))
            made[-1] += [count_frequencies(searcher, queries, NO_FILTERS, by).as_dict() for by in GROUPINGS]
    assert made[0] == made[1] and made[0][0].lines


@pytest.mark.parametrize("shards", [1, 3])
def test_a_server_that_reads_in_parts_finds_the_same_in_the_same_order(
    elasticsearch_url: str, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'The "climate"\n\u2028changes\U0001f30d.'
    bare = [document("bare", text, source=None), document("old", text, text, date="1969-12-31T23:59:59Z")]

    def read(searcher: Searcher, *words: str) -> list[Any]:
        found = [
            searcher.index.select(HasWords((word,)), 999, NO_FILTERS, Texts(), oldest_first=oldest_first)
            for word in words or ("the", "climate")
            for oldest_first in (False, True)
        ]
        return [
            (each.texts, each.read_ids(np.arange(len(each.texts))), each.days, each.sources, each.total)
            for each in found
        ]

    with fresh(elasticsearch_url) as where:
        load(where, [*bare, *random_documents("english")], shards=shards)
        with open_searcher(where) as searcher:
            whole = read(searcher)
            monkeypatch.setattr(counts, "WORTH_DIVIDING", 3)
            with monkeypatch.context() as forbidden:  # as where scripts are
                reader = counts.READER["scripted_metric"] | {"map_script": "no Painless"}
                forbidden.setattr(counts, "READER", {"scripted_metric": reader})
                assert read(searcher, "the") == whole[:2]  # once: a server limits what it compiles
            monkeypatch.delattr(counts, "read_pages_by_date")
            assert read(searcher) == whole  # by no pages of hits
    assert text in whole[0][0] and {None, -1} < set(whole[0][2]) and None in whole[0][3]


def test_a_sample_depends_on_its_seed_alone(searcher: Searcher, language: str) -> None:
    query = QUERIES[language][1]
    every = make(searcher, query, k=10_000)
    sample = make(searcher, query, sample=5, seed=3)
    assert sample == make(searcher, query, sample=5, seed=3) != make(searcher, query, sample=5, seed=4)
    assert (sample.read, sample.sentences) == (5, every.sentences)
    assert set(sample.lines) <= set(every.lines)
    assert make(searcher, query, k=10_000, sample=10_000) == every


Unit = tuple[str, bool]
"""What is counted, and whether it is a word as written, not a term."""


def count_near(
    searcher: Searcher, texts: list[str], query: str, window: int | None, by: By, stop_words: bool
) -> tuple[Counter[Unit], Counter[str], int]:
    """By a plain scan: the units near the node, forms among them that begin a term, and occurrences."""
    analyzer, node = searcher.index.analyzer, get_analyzer("words").terms(query)
    near: Counter[Unit] = Counter()
    with_term: Counter[str] = Counter()
    occurrences = 0
    for text in texts:
        words = list(get_analyzer("words").tokens(text))
        folded = [word.term for word in words]
        inside: set[int] = set()
        around: set[int] = set()
        at = 0
        while at < len(folded):
            if folded[at : at + len(node)] == node:
                occurrences += 1
                inside |= {*range(at, at + len(node))}
                reach = len(folded) if window is None else window
                around |= {*range(at - reach, at + len(node) + reach)}
                at += len(node)
            else:
                at += 1
        terms: list[list[str]] = [[] for _ in words]
        for token in analyzer.tokens(text):
            terms[max(n for n, word in enumerate(words) if word.start <= token.start)].append(token.term)
        for place in (around - inside) & {*range(len(words))}:
            if by == "stems":
                near.update((term, False) for term in terms[place])
            if (by == "forms" and terms[place]) or (stop_words and not terms[place]):
                near[folded[place], True] += 1
                with_term[folded[place]] += bool(terms[place])
    return near, with_term, occurrences


def texts_of(searcher: Searcher, source: str | None = None) -> list[str]:
    """The sentences of the export, in documents of this source."""
    return [
        sentence.text
        for document in searcher.index.documents()
        for sentence in document.sentences
        if source is None or document.source == source
    ]


@pytest.mark.parametrize(
    ("by", "stop_words", "window"),
    [("stems", False, 2), ("stems", True, None), ("forms", False, 3), ("forms", True, 2)],
)
def test_collocations_are_those_of_a_plain_count(
    searcher: Searcher, language: str, by: By, stop_words: bool, window: int | None
) -> None:
    analyzer, query, texts = searcher.index.analyzer, QUERIES[language][0], texts_of(searcher)
    near, with_term, occurrences = count_near(searcher, texts, query, window, by, stop_words)
    frequency: Counter[Unit] = Counter((term, False) for text in texts for term in analyzer.terms(text))
    size = frequency.total()
    frequency.update((word, True) for text in texts for word in get_analyzer("words").terms(text))
    found = find_collocations(
        searcher, parse(query), NO_FILTERS, reach=Reach(window, by, stop_words), min_count=1, k=1000
    )
    assert found.node == occurrences
    expected = Counter(
        (name, count, frequency[name, is_form]) for (name, is_form), count in near.items() if count
    )
    assert Counter((each.term, each.near, each.frequency) for each in found.collocations) == expected
    plain = sum(with_term.values()) if by == "forms" else sum(n for (_, f), n in near.items() if not f)
    for each in found.collocations:
        dice = 14 + math.log2(2 * each.near / (each.frequency + occurrences))
        assert each.measures["logdice"] == pytest.approx(dice, abs=1e-4)
        # A stop word is compared with the terms and itself.
        is_stop = near[each.term, True] == each.near and not with_term[each.term] and stop_words
        window_size = plain + each.near - (with_term[each.term] if near[each.term, True] else each.near)
        all_size = size + (each.frequency if is_stop else 0)
        mi = math.log2(each.near * all_size / (each.frequency * window_size))
        assert each.measures["mi"] == pytest.approx(mi, abs=1e-4)


@pytest.mark.parametrize(("by", "stop_words"), [("stems", False), ("forms", True)])
def test_the_neighbourhood_in_a_part_is_compared_with_that_in_the_rest(
    searcher: Searcher, language: str, by: By, stop_words: bool
) -> None:
    query, reach = QUERIES[language][0], Reach(2, by, stop_words)
    for against, sources in (("source:b.org", ["b.org"]), (None, ["b.org", "C.org"])):
        parts = [texts_of(searcher, "a.org"), [t for one in sources for t in texts_of(searcher, one)]]
        counted = [count_near(searcher, texts, query, 2, by, stop_words) for texts in parts]
        found = contrast_collocations(
            searcher,
            parse(query),
            NO_FILTERS,
            parse("source:A.ORG"),
            against and parse(against),
            reach=reach,
            min_count=2,
            k=1000,
        )
        (own, _, own_node), (other, _, other_node) = counted
        assert found.node == (own_node, other_node)
        assert {(each.term, each.near, each.other) for each in found.collocations} == {
            (unit[0], own[unit], other[unit])
            for unit in own
            if own[unit] >= 2 and own[unit] * other.total() > other[unit] * own.total()
        }
        for each in found.collocations:
            shares = each.near / own.total(), max(each.other, 0.5) / other.total()
            assert each.log_ratio == pytest.approx(math.log2(shares[0] / shares[1]), abs=1e-4)
        values = [each.log_likelihood for each in found.collocations]
        assert values == sorted(values, reverse=True) and values[-1] > 0


@pytest.mark.parametrize("by", GROUPINGS)
def test_frequencies_are_those_of_a_plain_count(searcher: Searcher, language: str, by: Grouping) -> None:
    queries = QUERIES[language][:3]
    filters = Filters(date_from="2017-02", sources=["A.org", "c.org"])
    made = count_frequencies(searcher, list(map(parse, queries)), filters, by)
    groups: dict[str, str] = {}
    lengths: Counter[str] = Counter()
    for stored in searcher.index.documents():
        assert stored.date is not None and stored.source is not None
        if stored.date >= "2017-02" and stored.source in ("a.org", "C.org"):
            day = date.fromisoformat(stored.date)
            week = "{}-W{:02}".format(*day.isocalendar())
            names = {"day": stored.date, "week": week, "month": stored.date[:7], "year": stored.date[:4]}
            group = {**names, "source": stored.source}[by]
            groups |= {sentence.id: group for sentence in stored.sentences}
            lengths[group] += sum(len(searcher.index.analyzer.terms(s.text)) for s in stored.sentences)
    for query, series in zip(queries, made.series, strict=True):
        counts = Counter(groups[id] for id, *_ in scan(searcher, query) if id in groups)
        assert {g: n for g, n in zip(made.groups, series.counts, strict=True) if n} == counts
        assert (series.total, series.ungrouped) == (counts.total(), 0)
        rates = {g: 1e6 * counts[g] / n for g, n in lengths.items() if counts[g]}
        found = {g: rate for g, rate in zip(made.groups, made.rates(series), strict=True) if rate}
        assert found == pytest.approx(rates, abs=1e-3)
    assert list(made.groups) == sorted(made.groups) and made.all_words == lengths.total()


@pytest.mark.parametrize("order", ORDERS)
def test_key_words_are_those_of_a_plain_count(
    searcher: Searcher, language: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esr.corpus.frequencies.BATCH_SIZE", 1)
    terms = searcher.index.analyzer.terms
    for against, others in (("source:b.org", ["b.org"]), (None, ["b.org", "C.org"])):
        own = Counter(term for text in texts_of(searcher, "a.org") for term in terms(text))
        other = Counter(term for one in others for text in texts_of(searcher, one) for term in terms(text))
        sizes = own.total(), other.total()
        expected = {}
        for term in own:
            a, b = own[term], other[term]
            ratio = math.log2(a / sizes[0] / (max(b, 0.5) / sizes[1]))
            if order == "log-likelihood":
                cells = [
                    (a, sizes[0] * (a + b)),
                    (b, sizes[1] * (a + b)),
                    (sizes[0] - a, sizes[0] * (sum(sizes) - a - b)),
                    (sizes[1] - b, sizes[1] * (sum(sizes) - a - b)),
                ]
                value = 2 * sum(o * math.log(o * sum(sizes) / e) for o, e in cells if o)
                if a * sizes[1] > b * sizes[0]:
                    expected[term] = value
            else:
                expected[term] = ratio
        found = find_key_words(
            searcher,
            parse("source:a.org"),
            against and parse(against),
            order=order,
            min_count=1,
            k=1000,
        )
        assert found.sizes == sizes
        values = {word.term: (word.log_likelihood, word.log_ratio) for word in found.words}
        if order == "log-likelihood":
            assert {term: value for term, (value, _) in values.items()} == pytest.approx(expected, abs=1e-4)
        else:
            assert all(
                ratio == pytest.approx(expected[term], abs=1e-4) for term, (_, ratio) in values.items()
            )
        assert all((word.own, word.other) == (own[word.term], other[word.term]) for word in found.words)
        assert all(word.log_likelihood > SURE for word in found.words) or order == "log-likelihood"
        for k in range(1, 6):  # looked up one by one, until no other can be among the best
            best = find_key_words(
                searcher, parse("source:a.org"), against and parse(against), order=order, min_count=1, k=k
            )
            assert best.words == found.words[:k]


@pytest.mark.parametrize("against", ["source:b.org", None])
def test_both_directions_of_a_comparison_are_those_of_one_each(
    searcher: Searcher, language: str, against: str | None
) -> None:
    query, part, other = parse(QUERIES[language][0]), parse("source:a.org"), against and parse(against)
    pairs = [(part, other)] + ([(other, part)] if other else [])
    assert contrast_both_ways(searcher, query, NO_FILTERS, part, other, min_count=1) == [
        contrast_collocations(searcher, query, NO_FILTERS, *pair, min_count=1) for pair in pairs
    ]
    key_words = find_key_words_both_ways(searcher, part, other, min_count=1)
    assert key_words == [find_key_words(searcher, *pair, min_count=1) for pair in pairs]
    assert all(each.words for each in key_words)


def test_written_forms_are_the_most_frequent_ones(searcher: Searcher, language: str) -> None:
    found = find_collocations(searcher, parse(QUERIES[language][0]), NO_FILTERS, min_count=1, k=1000)
    texts = " ".join(texts_of(searcher))
    assert found.collocations and all(each.word in texts for each in found.collocations)
    for word in find_key_words(searcher, parse("source:a.org"), min_count=1).words:
        assert word.word in texts and searcher.index.analyzer.terms(word.word) == [word.term]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    where = str(tmp_path / "folder")
    texts = ["Flood warnings rose. A flood warning came late."] * 3 + ["Warnings of rain and of snow."]
    load(where, [document(f"d{n}", *text.split(". ")) for n, text in enumerate(texts)])
    return where


def test_measures_are_those_of_nltk(folder: str) -> None:
    nltk = pytest.importorskip("nltk.metrics.association")
    with open_searcher(folder) as searcher:
        found = find_collocations(searcher, parse("flood"), NO_FILTERS, min_count=1)
        size = searcher.index.statistics([]).collection.occurrences
    window = sum(each.near for each in found.collocations)
    for each in found.collocations:
        marginals = each.near, (window, each.frequency), size
        assert each.measures["mi"] == pytest.approx(nltk.BigramAssocMeasures.pmi(*marginals), abs=1e-4)
        assert each.measures["t"] == pytest.approx(nltk.BigramAssocMeasures.student_t(*marginals), abs=1e-4)
        likelihood = nltk.BigramAssocMeasures.likelihood_ratio(*marginals)
        assert abs(each.measures["log-likelihood"]) == pytest.approx(likelihood, abs=1e-3)
    with open_searcher(folder) as searcher:
        words = find_key_words(searcher, parse("flood"), parse("rain"), min_count=1)
    for word in words.words:
        marginals = word.own, (words.sizes[0], word.own + word.other), sum(words.sizes)
        likelihood = nltk.BigramAssocMeasures.likelihood_ratio(*marginals)
        assert word.log_likelihood == pytest.approx(likelihood, abs=1e-3)


@pytest.mark.parametrize(
    ("query", "node"),
    [
        ("climate change", [("climate", "change")]),
        ("climate change source:bbc.co.uk", [("climate", "change")]),
        ('policy "climate change"', [("climate", "change")]),
        ("+policy clim*", [("clim",)]),
        ("flood OR storm", [("flood",), ("storm",)]),
        ("+flood -storm", [("flood",)]),
        ("title:flood Storm", [("storm",)]),
    ],
)
def test_the_node_is_the_phrase_the_prefix_or_the_first_words(
    query: str, node: list[tuple[str, ...]]
) -> None:
    patterns, _ = split_node(parse(query))
    assert [pattern.words for pattern in patterns] == node


@pytest.mark.parametrize("query", ["", "source:bbc.co.uk", "-storm", "!!!"])
def test_a_query_without_a_node_is_refused(folder: str, query: str) -> None:
    with (
        open_searcher(folder) as searcher,
        pytest.raises(UsageError, match=r"give a word|no letter or digit"),
    ):
        make(searcher, query)


def test_no_more_sentences_are_read_than_is_told(folder: str) -> None:
    with open_searcher(folder) as searcher:
        made = make(searcher, "flood", sort="right1", most=2)
        assert (made.read, made.sentences) == (2, 6)
        with pytest.raises(UsageError, match="6 sentences match, at most 2"):
            find_collocations(searcher, parse("flood"), NO_FILTERS, reach=Reach(most=2))
        with pytest.raises(UsageError, match="6 sentences match, at most 2"):
            count_frequencies(searcher, [parse("flood")], NO_FILTERS, most=2)
        with pytest.raises(UsageError, match="6 sentences match, at most 5"):
            contrast_collocations(searcher, parse("flood"), NO_FILTERS, parse("rain"), reach=Reach(most=5))
        newest = {line.sentence_id for line in make(searcher, "flood", k=3).lines}
        for seed in range(20):
            drawn = make(searcher, "flood", sample=2, seed=seed, most=3)
            assert {line.sentence_id for line in drawn.lines} <= newest and drawn.read == 2


@pytest.mark.parametrize("unit", ["characters", "words"])
def test_the_width_is_that_of_the_text_on_each_side(folder: str, unit: Any) -> None:
    with open_searcher(folder) as searcher:
        for width in (0, 1, 3):
            for line in make(searcher, "warning*", width=width, unit=unit).lines:
                for text in (line.left, line.right):
                    assert (len(text) if unit == "characters" else len(text.split())) <= width
        line = make(searcher, '"flood warning"', width=2, unit="words").lines[0]
        assert (line.left, line.node, line.right) == ("rose A ", "flood warning", " came late.")


def test_a_server_tells_how_many_sentences_it_reads(searcher: Searcher) -> None:
    if searcher.index.where.startswith("http"):
        with pytest.raises(UsageError, match=r"\d+ sentences match, at most 3"):
            find_key_words(searcher, parse("source:a.org"), most=3)
    else:  # a folder reads postings
        assert find_key_words(searcher, parse("source:a.org"), most=3, min_count=1).words


def test_a_key_word_that_is_an_emoji_is_written_as_it_is(tmp_path: Path) -> None:
    rows = [{"text": f"\U0001f600 Rain {n}.", "source": "a.org" if n < 5 else "b.org"} for n in range(9)]
    rows += [{"text": f"Sun {n}.", "source": "b.org"} for n in range(9)]
    with esr.create(tmp_path / "index", rows) as index:
        found = index.keyness("source:a.org", min_count=1).words
    assert {"\U0001f600": "\U0001f600", "rain": "Rain"}.items() <= {
        word.term: word.word for word in found
    }.items()


def run(*args: object) -> Result:
    return CliRunner().invoke(main, list(map(str, args)), catch_exceptions=False)


def test_the_commands_print_text_json_and_csv(folder: str) -> None:
    lines = run("concordance", "flood", "--index", folder, "--width", 12).stdout.splitlines()
    assert lines[0].startswith("Flood warnings") or " Flood warnings" in lines[0]
    assert lines[-1] == "6 lines, 6 sentences with exactly this form"
    answer = json.loads(run("concordance", "flood", "--index", folder, "--format", "json").stdout)
    assert answer["sentences"] == 6 and {line["node"] for line in answer["lines"]} == {"Flood", "flood"}
    table = run("collocations", "flood", "--index", folder, "--min-count", 3, "--format", "csv").stdout
    assert table.splitlines()[0] == ",".join(["word", "term", "near", "frequency", *MEASURES])
    assert "warn,6,7" in table
    assert "Too rare" in run("collocations", "snow", "--index", folder).stdout
    compared = run("contrast", "flood", "late", "--index", folder, "--min-count", 1).stdout
    assert "3 and 3 times in 3 and 3 sentences" in compared and "came" in compared
    text = run("frequencies", "flood", "snow", "--by", "year", "--index", folder).stdout
    assert "6 times in 6 sentences" in text
    rows = run("frequencies", "flood", "--by", "source", "--index", folder, "--format", "csv").stdout
    assert rows == "query,group,count,words,per_million\n"
    assert "Flood,flood,6,0," in run("keyness", "flood", "--index", folder, "--format", "csv").stdout
    text = run("keyness", "flood", "--against", "rain", "--min-count", 1, "--index", folder).stdout
    assert "%diff" in text and "words in the part" in text
    assert "Nothing matched." in run("concordance", "absent", "--index", folder).stdout
    for sort in SORTS:
        assert run("concordance", "flood", "--index", folder, "--sort", sort).exit_code == 0
    refused = run("concordance", "flood", "--index", folder, "--sort", "best", "--sample", 3)
    assert refused.exit_code == 2 and "a sample is not ranked" in refused.stderr


def test_commands_name_an_unknown_source_and_a_table_without_rows_has_its_head(folder: str) -> None:
    for command in (
        ("search", "flood"),
        ("timeline", "flood"),
        ("concordance", "flood"),
        ("collocations", "flood"),
        ("contrast", "flood", "late"),
        ("frequencies", "flood"),
        ("evidence", "the flood came late"),
    ):
        answer = run(*command, "--source", "nowhere", "--format", "csv", "--index", folder)
        assert answer.exit_code == 0 and answer.stderr.startswith("unknown source 'nowhere'"), command
        assert len(answer.stdout.splitlines()) == 1 and "," in answer.stdout, command


def test_the_python_api_has_the_same_lines_and_collocations(folder: str) -> None:
    with esr.open(folder) as index, open_searcher(folder) as searcher:
        assert index.concordance("flood", k=3, sort="right1") == make(searcher, "flood", k=3, sort="right1")
        found = find_collocations(searcher, parse("flood"), NO_FILTERS, min_count=1)
        assert index.collocations("flood", min_count=1) == found
        with pytest.raises(UsageError, match="unknown order 'right'"):
            index.concordance("flood", sort="right")
        with pytest.raises(UsageError, match="unknown measure 'dice'"):
            index.collocations("flood", measure="dice")
        with pytest.raises(UsageError, match="unknown choice for by 'words'"):
            index.collocations("flood", by="words")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="unknown choice for by 'author'"):
            index.frequencies("flood", by="author")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="unknown order 'size'"):
            index.keyness("flood", order="size")
        queries = parse("flood"), parse("late")
        found_in_part = contrast_collocations(searcher, queries[0], NO_FILTERS, queries[1], min_count=1)
        assert index.contrast("flood", "late", min_count=1) == found_in_part
        assert index.frequencies("flood", by="year") == count_frequencies(
            searcher, queries[:1], NO_FILTERS, "year"
        )
        assert index.keyness("flood", against="rain") == find_key_words(searcher, queries[0], parse("rain"))


@pytest.mark.parametrize(
    "arguments", [{"sort": sort} for sort in SORTS if sort != "best"] + [{"sample": 9, "sort": "node"}]
)
@pytest.mark.parametrize("language", ["english"], indirect=True)
def test_pages_of_lines_join_to_all_lines_and_files_have_them_too(
    searcher: Searcher, arguments: dict[str, Any]
) -> None:
    client = create_app(searcher, Settings(access_log=0)).test_client()
    query = {"q": "c*", **arguments}
    whole = make(searcher, "c*", k=10_000, **arguments).as_dict()["lines"]
    pages, more = list[dict[str, Any]](), dict[str, str]()
    while True:
        answer: Any = client.get("/api/v1/concordance", query_string={**query, "k": 7, **more}).json
        pages += answer["lines"]
        if answer["next"] is None:
            break
        assert len(answer["lines"]) == 7
        more = {"cursor": answer["next"]}
    assert pages == whole and len(whole) > 7
    file = client.get("/concordance.jsonl", query_string=query)
    assert [json.loads(line) for line in file.text.splitlines()] == whole
    refused: Any = client.get("/api/v1/concordance", query_string={**query, "cursor": "x"})
    assert (refused.status_code, refused.json["error"]["field"]) == (400, "cursor")


def test_the_api_answers_as_the_library(folder: str) -> None:
    with open_searcher(folder) as searcher:
        client = create_app(searcher, Settings()).test_client()
        answer = client.get("/api/v1/concordance?q=flood&sort=right1&k=4&width=12").json
        assert answer.pop("next")
        assert answer == make(searcher, "flood", sort="right1", k=4, width=12).as_dict()
        answer = client.get("/api/v1/collocations?q=flood&window=0&min_count=1&measure=t").json
        reach = Reach(None)
        found = find_collocations(searcher, parse("flood"), NO_FILTERS, reach=reach, min_count=1, measure="t")
        assert answer == json.loads(json.dumps(found.as_dict()))
        answer = client.get("/api/v1/contrast?q=flood&part=late&min_count=1&by=forms&stop_words=yes").json
        reach = Reach(by="forms", stop_words=True)
        compared = contrast_collocations(
            searcher, parse("flood"), NO_FILTERS, parse("late"), reach=reach, min_count=1
        )
        assert answer == json.loads(json.dumps(compared.as_dict())) and compared.collocations
        answer = client.get("/api/v1/frequencies?q=flood&also=snow&by=source").json
        counted = count_frequencies(searcher, [parse("flood"), parse("snow")], NO_FILTERS, "source")
        assert answer == json.loads(json.dumps(counted.as_dict()))
        answer = client.get("/api/v1/keyness?q=flood&against=rain&min_count=1&order=log-likelihood").json
        words = find_key_words(searcher, parse("flood"), parse("rain"), min_count=1)
        assert answer == json.loads(json.dumps(words.as_dict())) and words.words
        refused = client.get("/api/v1/keyness?q=flood&against=-").json["error"]["message"]  # type: ignore[index]
        assert "query" in refused
        refused = client.get("/api/v1/concordance?q=source:x")
        assert refused.status_code == 400 and "Give a word" in refused.json["error"]["message"]  # type: ignore[index]
