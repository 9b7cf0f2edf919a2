"""One definition, two implementations: Elasticsearch's analyzers and Python's find the same terms."""

from __future__ import annotations

import gzip
import json
import random
import secrets
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esr import loaders
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import OPENSEARCH
from esr.elastic.write.templates import index_body, install_templates
from esr.index.writer import Description
from esr.loaders import example_news
from esr.stdlib import batched
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER, all_definitions
from tests.support.elasticsearch import fresh, load
from tests.support.runs import IS_LONG, examples, rounds
from tests.support.texts import made_up_words, spoilt_texts

ANALYZERS = [*all_definitions(), WORDS_ANALYZER]
UNICODE_14_JAVA = 19
"""The first Java with Unicode 14."""
UNICODE_14_CAPITALS = {
    0x2C2F: 0x2C5F, 0xA7C0: 0xA7C1, 0xA7D0: 0xA7D1, 0xA7D6: 0xA7D7, 0xA7D8: 0xA7D9,
    **{code: code + 0x27 for code in range(0x10570, 0x10596) if code not in (0x1057B, 0x1058B, 0x10593)},
}  # fmt: skip
UNICODE_14_DIGITS = {0x16AC0 + digit: ord("0") + digit for digit in range(10)}
KEPT_BY_OLDER_JAVA = {
    "plain": UNICODE_14_CAPITALS,
    "english": UNICODE_14_CAPITALS,
    WORDS_ANALYZER: UNICODE_14_CAPITALS | UNICODE_14_DIGITS,
}
"""The characters that an older Java leaves in terms, by analyzer, with what they should be."""
TOKENIZERS = ["plain", "english-stem", "multilingual", WORDS_ANALYZER]
"""Analyzers that between them have every tokenizer and every filter that splits."""
# Letters whose lower case, width, marks or stems are handled in different ways by different programs.
SCRIPTS = {
    "latin": (0x20, 0x24F), "latin more": (0x1E00, 0x1EFF), "greek": (0x370, 0x3FF),
    "greek more": (0x1F00, 0x1FFF), "cyrillic": (0x400, 0x52F), "armenian": (0x530, 0x58F),
    "hebrew": (0x590, 0x5FF), "arabic": (0x600, 0x6FF), "devanagari": (0x900, 0x97F),
    "bengali": (0x980, 0x9FF), "tamil": (0xB80, 0xBFF), "thai": (0xE00, 0xE7F), "tibetan": (0xF00,
    0xFFF), "georgian": (0x10A0, 0x10FF), "georgian capitals": (0x1C90, 0x1CBF), "hangul": (0x1100,
    0x11FF), "ethiopic": (0x1200, 0x137F), "cherokee": (0x13A0, 0x13FF), "cherokee small": (0xAB70,
    0xABBF), "khmer": (0x1780, 0x17FF), "mongolian": (0x1800, 0x18AF), "punctuation": (0x2000, 0x206F),
    "letter-like": (0x2070, 0x218F), "enclosed": (0x2460, 0x24FF), "glagolitic": (0x2C00, 0x2C5F),
    "kana": (0x3040, 0x30FF), "han": (0x4E00, 0x4FFF), "vai": (0xA500, 0xA63F), "latin d": (0xA720,
    0xA7FF), "syllables": (0xAC00, 0xAD00), "forms": (0xFB00, 0xFDFF), "full width": (0xFF00, 0xFFEF),
    "deseret": (0x10400, 0x1044F), "osage": (0x104B0, 0x104FF), "adlam": (0x1E900, 0x1E95F),
    "bold": (0x1D400, 0x1D4FF), "emoji": (0x1F300, 0x1F6FF), "han more": (0x20000, 0x20100),
}  # fmt: skip
WORDS = st.sampled_from(
    [
        "running", "generously", "İstanbul", "ΟΔΟΣ", "straße", "STRASSE", "don't", "it's", "the",
        "Dying", "ﬁnance", "skies", "added", "egging", "inning", "news", "o'neill", "U.S.", "naïve",
        "cafe\u0301", "x" * 254, "y" * 256, "𐐀" * 127, "𐐀" * 128, "ǅ", "Ⅷ", "ß", "ſ", "K", "happily",
        "yyy", "'s", "’s"
    ]
)  # fmt: skip
LETTERS = st.one_of(*(st.characters(min_codepoint=low, max_codepoint=high) for low, high in SCRIPTS.values()))
TEXT = st.lists(
    st.one_of(
        st.text(LETTERS, max_size=12), st.text(max_size=8), WORDS, st.sampled_from(" .,-_'’\u200b\u00ad")
    ),
    max_size=20,
).map("".join)


@pytest.fixture(scope="module")
def cluster(elasticsearch_url: str) -> Iterator[Cluster]:
    """A cluster with an empty index for each analyzer, as a load would make it."""
    cluster = Cluster(f"{elasticsearch_url}/esr-test-analysis-{secrets.token_hex(4)}")
    install_templates(cluster)
    for name in ANALYZERS:
        body = index_body(Description(name, True), 1, 0, {})
        body["settings"]["index.analyze.max_token_count"] = 1_000_000
        cluster.client.indices.create(index=index_of(cluster, name), **body)
    yield cluster
    for name in ANALYZERS:
        cluster.client.indices.delete(index=index_of(cluster, name))
    cluster.close()


def index_of(cluster: Cluster, analyzer: str) -> str:
    return f"{cluster.alias}-{analyzer}-esr-sentences"


def elasticsearch_terms(
    client: Elasticsearch, index: str, analyzer: str, texts: Sequence[str]
) -> list[list[str]]:
    """The terms of each text, in order.

    One call takes all texts. Their tokens have offsets into the texts as if these were joined by one
    character, which separates them.
    """
    tokens = client.indices.analyze(index=index, analyzer=analyzer, text=list(texts))["tokens"]
    ends, end = [], 0
    for text in texts:
        end += len(text.encode("utf-16-le")) // 2 + 1
        ends.append(end)
    terms_by_text: list[list[str]] = [[] for _ in texts]
    number = 0
    for token in tokens:
        while token["start_offset"] >= ends[number]:
            number += 1
        terms_by_text[number].append(token["token"])
    return terms_by_text


@pytest.fixture(scope="module")
def news_sentences() -> list[str]:
    """Sentences and titles of the example news, or of the project's own articles if it cannot be fetched."""
    try:
        source, step = example_news.fetch(), 7
    except example_news.Unreachable:
        source, step = example_news.OWN_ARTICLES, 1
    sentences = []
    for located in loaders.read_documents([str(source)], "auto"):
        sentences += [sentence.text for sentence in located.document.sentences]
        sentences.append(located.document.title or "")
    return sentences[::step]


def oldest_java(cluster: Cluster) -> int:
    nodes = cluster.client.nodes.info(metric="jvm")["nodes"].values()
    return min(int(node["jvm"]["version"].partition(".")[0]) for node in nodes)


def compare(cluster: Cluster, analyzer: str, texts: Iterable[str]) -> tuple[int, list[str]]:
    """How many texts were compared, and what differs."""
    index, terms = index_of(cluster, analyzer), get_analyzer(analyzer).terms
    kept = KEPT_BY_OLDER_JAVA.get(analyzer, {}) if oldest_java(cluster) < UNICODE_14_JAVA else {}
    wrong, compared = [], 0
    for batch in batched(texts, 200):
        texts = list(batch)
        compared += len(texts)
        got = elasticsearch_terms(cluster.client, index, analyzer, texts)
        for text, theirs in zip(texts, got, strict=True):
            if [term.translate(kept) for term in theirs] != terms(text):
                wrong.append(f"{text!r}: Elasticsearch {theirs}, Python {terms(text)}")
    return compared, wrong


@pytest.mark.parametrize("analyzer", TOKENIZERS)
def test_news_is_analysed_alike(cluster: Cluster, analyzer: str, news_sentences: list[str]) -> None:
    compared, wrong = compare(cluster, analyzer, news_sentences)
    assert compared > 100
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("analyzer", TOKENIZERS)
def test_every_letter_is_analysed_alike(cluster: Cluster, analyzer: str) -> None:
    """Characters of Unicode's first planes, others in each run: alone, between letters, with an ending."""
    step = 1 if IS_LONG else 5
    characters = [
        chr(c)
        for c in range(0x20 + random.randrange(step), 0x20000, step)
        if unicodedata.category(chr(c)) not in ("Cs", "Cn", "Co")
    ]
    lines = ("".join(f"a{c}b {c} {c}y r{c}ings " for c in batch) for batch in batched(characters, 10))
    compared, wrong = compare(cluster, analyzer, lines)
    assert compared > 2000 / step
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("analyzer", TOKENIZERS)
def test_long_words_with_letters_of_two_units_are_analysed_alike(cluster: Cluster, analyzer: str) -> None:
    """Limits of lengths count UTF-16 units here and letters there."""
    texts = ["x" * before + "𐐀" * after for before in (0, 1, 254, 255) for after in (1, 2, 127, 128, 255)]
    _, wrong = compare(cluster, analyzer, texts)
    assert not wrong, "\n".join(wrong[:3])


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(TEXT, min_size=1, max_size=40))
def test_any_text_is_analysed_alike(cluster: Cluster, texts: list[str]) -> None:
    """Mixed scripts, marks, long words, words where stemmers differ. Each example is up to 40 texts."""
    for analyzer in TOKENIZERS:
        _, wrong = compare(cluster, analyzer, texts)
        assert not wrong, "\n".join(wrong[:3])


@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_words_of_the_language_are_analysed_alike(cluster: Cluster, analyzer: str) -> None:
    """Stop words, words of the example, and what their beginnings and ends can be put together to."""
    compared, wrong = compare(cluster, analyzer, made_up_words(analyzer, 2000))
    assert compared > 20
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.endurance
@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_spoilt_text_is_analysed_alike(cluster: Cluster, analyzer: str) -> None:
    """Characters of all classes of word boundaries in any order: bidi marks, joiners, selectors, flags."""
    compared, wrong = compare(cluster, analyzer, spoilt_texts(rounds(1000)))
    assert compared == rounds(1000)
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.endurance
@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_real_text_of_many_languages_is_analysed_alike(cluster: Cluster, analyzer: str) -> None:
    """Uses ../shared/collections, where it is."""
    texts = list(shared_texts())[:: 1 if IS_LONG else 20]
    if not texts:
        pytest.skip("needs ../shared/collections")
    _, wrong = compare(cluster, analyzer, texts)
    assert not wrong, "\n".join(wrong[:10])


def shared_texts() -> Iterator[str]:
    folder = Path(__file__).resolve().parents[3] / "shared" / "collections"
    for file in folder.glob("ud-sentences/*.txt"):
        yield from file.read_text("utf-8").splitlines()
    for file in folder.glob("xquad-dev/*/docs.jsonl.gz"):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from (json.loads(line)["text"] for line in lines)


def surrounding_counts_by_script(cluster: Cluster, vocabulary: Iterable[str]) -> dict[str, dict[str, int]]:
    """The counts of these terms in `surrounding`, by sentence id.

    OpenSearch makes term vectors from `_source`, where a field that copies others has no text.
    """
    counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for batch in batched(vocabulary, 200):
        terms = list(batch)
        lines: list[dict[str, object]] = []
        for term in terms:
            scored = {"query": {"term": {"surrounding": term}}, "script": {"id": "esr-count-v1"}}
            lines += [{}, {"size": 2000, "_source": False, "query": {"script_score": scored}}]
        answers = cluster.client.msearch(index=cluster.alias, searches=lines)["responses"]
        for term, answer in zip(terms, answers, strict=True):
            for hit in answer["hits"]["hits"]:
                counts[hit["_id"]][term] = round(hit["_score"])
    return counts


@pytest.mark.parametrize("analyzer", TOKENIZERS)
def test_fields_count_the_terms_that_python_counts(elasticsearch_url: str, analyzer: str) -> None:
    """The counts in each field of the index are those of Python: this is what scores are made of."""
    documents = [
        located.document for located in loaders.read_documents([str(example_news.OWN_ARTICLES)], "auto")
    ]
    terms = get_analyzer(analyzer).terms
    with fresh(elasticsearch_url) as where:
        load(where, documents, analyzer=analyzer)
        cluster = Cluster(where)
        if cluster.dialect is OPENSEARCH:
            texts = [s.text for document in documents for s in document.sentences]
            copied_counts = surrounding_counts_by_script(
                cluster, {term for text in texts for term in terms(text)}
            )
        compared = 0
        for document in documents:
            texts = [sentence.text for sentence in document.sentences]
            document_counts = Counter(term for text in [document.title or "", *texts] for term in terms(text))
            ids = [sentence.id for sentence in document.sentences]
            answer = cluster.client.mtermvectors(
                index=next(iter(cluster.client.indices.get_alias(name=cluster.alias))),
                ids=ids,
                fields=["text", "surrounding", "context"],
                positions=False,
                offsets=False,
            )
            for vectors in answer["docs"]:
                n = ids.index(vectors["_id"])
                counts = {
                    field: {term: statistics["term_freq"] for term, statistics in vector["terms"].items()}
                    for field, vector in vectors["term_vectors"].items()
                }
                if cluster.dialect is OPENSEARCH:
                    counts["surrounding"] = copied_counts[vectors["_id"]]
                assert set(counts) == {"text", "surrounding", "context"}
                surrounding_counts = Counter(
                    term for text in texts[max(n - 1, 0) : n + 2] for term in terms(text)
                )
                assert counts["text"] == Counter(terms(texts[n]))
                assert counts["surrounding"] == surrounding_counts
                assert counts["context"] == document_counts
                compared += 1
        cluster.close()
    assert compared > 100
