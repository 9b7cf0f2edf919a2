"""Concordances and collocations beside a plain scan of the texts, in three languages, on both engines."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import esr
from esr.cli.main import main
from esr.corpus.collocations import MEASURES, find_collocations
from esr.corpus.concordance import SORTS, Concordance, build_concordance, split_node
from esr.errors import UsageError
from esr.index.filters import NO_FILTERS
from esr.query import parse
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer import get_analyzer
from esr.text.document import Document
from tests.support.elasticsearch import document, load
from webui.app import create_app
from webui.running.settings import Settings

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
            date=f"2017-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
            source=rng.choice(["b.org", "a.org", "C.org"]),
            language={"english": "en", "german": "de", "chinese": "zh"}[language],
        )
        for n in range(60)
    ]


@pytest.fixture(params=list(VOCABULARY))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def searcher(anywhere: str, language: str) -> Iterator[Searcher]:
    analyzer = {"english": "english-stem", "german": "german", "chinese": "multilingual"}[language]
    load(anywhere, random_documents(language), analyzer=analyzer)
    with open_searcher(anywhere) as opened:
        yield opened


def make(searcher: Searcher, query: str, **options: Any) -> Concordance:
    return build_concordance(searcher, parse(query), NO_FILTERS, **options)


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
    query = QUERIES[language][0]
    expected = scan(searcher, query)
    for side in ("left", "right"):
        for first in (1, 2, 3):
            made = make(searcher, query, k=10_000, sort=f"{side}{first}")
            keys = sorted(
                (left[::-1] if side == "left" else right)[first - 1 : 3] for _, left, _, right in expected
            )
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


def test_a_sample_depends_on_its_seed_alone(searcher: Searcher, language: str) -> None:
    query = QUERIES[language][1]
    every = make(searcher, query, k=10_000)
    sample = make(searcher, query, sample=5, seed=3)
    assert sample == make(searcher, query, sample=5, seed=3) != make(searcher, query, sample=5, seed=4)
    assert (sample.read, sample.sentences) == (5, every.sentences)
    assert set(sample.lines) <= set(every.lines)
    assert make(searcher, query, k=10_000, sample=10_000) == every


def test_collocations_are_those_of_a_plain_count(searcher: Searcher, language: str) -> None:
    analyzer = searcher.index.analyzer
    texts = [each.text for one in searcher.index.documents() for each in one.sentences]
    frequency = Counter(term for text in texts for term in analyzer.terms(text))
    query, window = QUERIES[language][0], 2
    node = get_analyzer("words").terms(query)
    near: Counter[str] = Counter()
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
                around |= {*range(at - window, at + len(node) + window)}
                at += len(node)
            else:
                at += 1
        for token in analyzer.tokens(text):
            place = max(n for n, word in enumerate(words) if word.start <= token.start)
            near[token.term] += place in around - inside
    found = find_collocations(searcher, parse(query), NO_FILTERS, window=window, min_count=1, k=1000)
    assert found.node == occurrences
    assert {each.term: (each.near, each.frequency) for each in found.collocations} == {
        term: (count, frequency[term]) for term, count in near.items() if count
    }
    for each in found.collocations:
        dice = 14 + math.log2(2 * each.near / (each.frequency + occurrences))
        assert each.measures["logdice"] == pytest.approx(dice, abs=1e-4)


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
            find_collocations(searcher, parse("flood"), NO_FILTERS, most=2)


@pytest.mark.parametrize("unit", ["characters", "words"])
def test_the_width_is_that_of_the_text_on_each_side(folder: str, unit: Any) -> None:
    with open_searcher(folder) as searcher:
        for width in (0, 1, 3):
            for line in make(searcher, "warning*", width=width, unit=unit).lines:
                for text in (line.left, line.right):
                    assert (len(text) if unit == "characters" else len(text.split())) <= width
        line = make(searcher, '"flood warning"', width=2, unit="words").lines[0]
        assert (line.left, line.node, line.right) == ("rose A ", "flood warning", " came late.")


def run(*args: object) -> Result:
    return CliRunner().invoke(main, list(map(str, args)), catch_exceptions=False)


def test_the_commands_print_text_json_and_csv(folder: str) -> None:
    lines = run("concordance", "flood", "--index", folder, "--width", 12).stdout.splitlines()
    assert lines[0].startswith("Flood warnings") or " Flood warnings" in lines[0]
    assert lines[-1] == "6 lines, 6 sentences with all words"
    answer = json.loads(run("concordance", "flood", "--index", folder, "--format", "json").stdout)
    assert answer["sentences"] == 6 and {line["node"] for line in answer["lines"]} == {"Flood", "flood"}
    table = run("collocations", "flood", "--index", folder, "--min-count", 3, "--format", "csv").stdout
    assert table.splitlines()[0] == ",".join(["word", "term", "near", "frequency", *MEASURES])
    assert "warn,6,7" in table
    assert "Too rare" in run("collocations", "snow", "--index", folder).stdout
    assert "Nothing matched." in run("concordance", "absent", "--index", folder).stdout
    for sort in SORTS:
        assert run("concordance", "flood", "--index", folder, "--sort", sort).exit_code == 0
    refused = run("concordance", "flood", "--index", folder, "--sort", "best", "--sample", 3)
    assert refused.exit_code == 2 and "a sample is not ranked" in refused.stderr


def test_the_python_api_has_the_same_lines_and_collocations(folder: str) -> None:
    with esr.open(folder) as index, open_searcher(folder) as searcher:
        assert index.concordance("flood", k=3, sort="right1") == make(searcher, "flood", k=3, sort="right1")
        found = find_collocations(searcher, parse("flood"), NO_FILTERS, min_count=1)
        assert index.collocations("flood", min_count=1) == found
        with pytest.raises(UsageError, match="unknown order 'right'"):
            index.concordance("flood", sort="right")
        with pytest.raises(UsageError, match="unknown measure 'dice'"):
            index.collocations("flood", measure="dice")


def test_the_api_answers_as_the_library(folder: str) -> None:
    with open_searcher(folder) as searcher:
        client = create_app(searcher, Settings()).test_client()
        answer = client.get("/api/v1/concordance?q=flood&sort=right1&k=4&width=12").json
        assert answer == make(searcher, "flood", sort="right1", k=4, width=12).as_dict()
        answer = client.get("/api/v1/collocations?q=flood&window=0&min_count=1&measure=t").json
        found = find_collocations(searcher, parse("flood"), NO_FILTERS, window=None, min_count=1, measure="t")
        assert answer == json.loads(json.dumps(found.as_dict()))
        refused = client.get("/api/v1/concordance?q=source:x")
        assert refused.status_code == 400 and "Give a word" in refused.json["error"]["message"]  # type: ignore[index]
