"""The sentences that a query lets through, compared on both engines with a plain scan of the texts.

The scan has a tokenizer of its own, from Unicode's categories and names.
"""

from __future__ import annotations

import os
import random
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import esr
import esr.errors
from esr import loaders
from esr.folder.search.candidates import search_exhaustive
from esr.index.filters import NO_FILTERS, resolve_plan
from esr.query import Clause, Group, date_start
from esr.query.query import Conjunction, Disjunction, Expression, Negation
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.dates import parse_date_start
from esr.text.document import Document
from tests.support.elasticsearch import differences, document, fresh, load
from tests.support.runs import SHARDS, rounds

ALPHABETS = {
    "english": "the white house of Trump climate climatic wall May May’s may's Mays naïve Zoé U.S. US 5-4",
    "русский": "Ёлка ёлки елка город города Москва москве и в на 2017 США с.ш.а. «Ведомости» президент-то",
    "ελληνικά": "Αθήνα αθηνα ΑΘΗΝΑ οδός ΟΔΟΣ και η το ευρώ Ευρωπαϊκή Έλληνες έλληνας",
    "العربية": "مدرسة المدرسة آب أب ٢٠١٧ محمد مُحَمَّد في من إلى",
    "中文": "北京 北京大学 大学 東京タワー カタカナ 中国2017年 的 hello 世界",
    "हिन्दी": "हिन्दी भारत भारतीय में का दिल्ली नई-दिल्ली ५०० ไทย ประเทศไทย",
}
SOURCES = ("bbc.co.uk", "Reuters")
COLLECTIONS = Path(__file__).resolve().parents[3] / "shared" / "collections"
NEWS = COLLECTIONS / "newsarticles-cc0" / "docs.jsonl.gz"
_ALONE = ("CJK UNIFIED", "CJK COMPATIBILITY", "HIRAGANA", "KATAKANA", "THAI", "LAO", "MYANMAR", "KHMER")
_FOLDED = dict(zip("ёßæøςىةآأإ", ["е", "ss", "ae", "o", "σ", "ي", "ه", "ا", "ا", "ا"], strict=True))


RANKING = Ranking(candidates="matching")


def words_of(text: str) -> list[str]:
    """Runs of letters, digits and their marks; an ideograph, a kana or a Thai letter is a word of its own.

    Superscripts and the like are none.
    """
    words: list[str] = []
    is_open = False
    for character in unicodedata.normalize("NFC", text):
        category = unicodedata.category(character)
        if category[0] == "L" or category in ("Nd", "Nl"):
            is_alone = stands_alone(character)
            if is_open and not is_alone:
                words[-1] += character
            else:
                words.append(character)
            is_open = not is_alone
        elif category[0] == "M" and words and (is_open or stands_alone(words[-1][0])):
            words[-1] += character
        else:
            is_open = False
    return [fold(word) for word in words]


def stands_alone(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_ALONE)


def fold(word: str) -> str:
    folded = ""
    for character in word:
        lower = character.lower()
        digit = unicodedata.decimal(lower, None)
        if digit is not None:
            folded += str(digit)
        elif lower in _FOLDED:
            folded += _FOLDED[lower]
        elif unicodedata.name(lower, "").startswith(("LATIN", "GREEK")):
            folded += unicodedata.normalize("NFD", lower)[0]
        elif unicodedata.name(lower, "").startswith("ARABIC") and unicodedata.category(lower) == "Mn":
            continue
        else:
            folded += lower
    return folded


class Scanned(NamedTuple):
    """A sentence of the collection, as the scan sees it."""

    id: str
    words: list[str]
    terms: frozenset[str]
    title: list[str]
    document: Document


def scan(documents: Sequence[Document], analyze: Callable[[str], list[str]]) -> Iterator[Scanned]:
    for each in documents:
        title = words_of(each.title or "")
        for sentence in each.sentences:
            terms = frozenset(analyze(sentence.text))
            yield Scanned(sentence.id, words_of(sentence.text), terms, title, each)


def satisfies(sentence: Scanned, groups: Sequence[Group], analyze: Callable[[str], list[str]]) -> bool:
    plain = [group.alternatives[0].text for group in groups if group.role == "wanted"]
    wanted = [term for text in plain for term in analyze(text)]
    required = [group for group in groups if group.role == "required" and is_searchable(group)]
    rest = list(required)
    for field in ("source", "section", "language"):
        alternatives = [group for group in required if fields(group) == {field} and not group.expression]
        if alternatives and not any(matches(sentence, group, analyze) for group in alternatives):
            return False
        rest = [group for group in rest if group not in alternatives]
    if not all(matches(sentence, group, analyze) for group in rest):
        return False
    excluded = (group for group in groups if group.role == "excluded" and is_searchable(group))
    if any(matches(sentence, group, analyze) for group in excluded):
        return False
    if any("text" in fields(group) for group in required) or not wanted:
        return bool(required)
    return any(term in sentence.terms for term in wanted)


def fields(group: Group) -> set[str]:
    return {clause.field for clause in group.alternatives}


def is_searchable(group: Group) -> bool:
    return all(words_of(c.text) or c.field not in ("text", "title") for c in group.clauses)


def matches(sentence: Scanned, group: Group, analyze: Callable[[str], list[str]]) -> bool:
    if group.expression is not None:
        return holds(group.expression, lambda clause: clause_matches(sentence, clause, analyze))
    return any(clause_matches(sentence, clause, analyze) for clause in group.alternatives)


def holds(expression: Expression, matches: Callable[[Clause], bool]) -> bool:
    match expression:
        case Conjunction(parts):
            return all(holds(part, matches) for part in parts)
        case Disjunction(parts):
            return any(holds(part, matches) for part in parts)
        case Negation(part):
            return not holds(part, matches)
        case clause:
            return matches(clause)


def clause_matches(sentence: Scanned, clause: Clause, analyze: Callable[[str], list[str]]) -> bool:
    news = sentence.document
    match clause.field.lower():
        case "source":
            return news.source is not None and news.source.lower() == clause.text.lower()
        case "author":
            return has_value(news.authors, clause.text)
        case "keyword":
            return has_value(news.keywords, clause.text)
        case "section":
            return has_value([news.section or ""], clause.text)
        case "meta.desk":
            of_key = [value for key, value in news.metadata.items() if key.lower() == "desk"]
            return has_value(
                [str(v) for values in of_key for v in ([values] if isinstance(values, str) else values)],
                clause.text,
            )
        case "language":
            return (news.language or "").lower().split("-")[0] == clause.text.lower()
        case "before":
            return news.date is not None and parse_date_start(news.date) < date_start(clause)
        case "after":
            return news.date is not None and parse_date_start(news.date) >= date_start(clause)
    words = sentence.title if clause.field == "title" else sentence.words
    typed = words_of(clause.text)
    if clause.form == "prefix":
        start, prefix = typed[:-1], typed[-1]
        return any(w.startswith(prefix) for w in words) and (not start or contains(words, start))
    terms = analyze(clause.text)
    if clause.field == "text" and clause.form == "word" and len(terms) == 1:
        return terms[0] in sentence.terms
    return contains(words, typed)


def has_value(values: Sequence[str], wanted: str) -> bool:
    return wanted.lower().strip() in [value.lower() for value in values]


def contains(words: list[str], phrase: list[str]) -> bool:
    if phrase[0] not in words:
        return False
    return any(words[n : n + len(phrase)] == phrase for n in range(len(words) - len(phrase) + 1))


def random_document(rng: random.Random, number: int, vocabulary: list[str]) -> Document:
    def text() -> str:
        return rng.choice([" ", " ", ", ", "-"]).join(rng.choices(vocabulary, k=rng.randint(1, 10)))

    metadata = {
        "title": rng.choice([None, text()]),
        "source": rng.choice([*SOURCES, None]),
        "language": rng.choice(["de", "de-AT", "en", None]),
        "date": rng.choice(["2017-03-01", "2017-04-01T10:00:00Z", None]),
    }
    known: dict[str, Any] = {name: value for name, value in metadata.items() if value is not None}
    known["authors"] = tuple(rng.sample(["Jane Doe", "Olaf Größe", "李明"], rng.randint(0, 2)))
    known["section"] = rng.choice([None, "Sport", "SPORT", "World: Asia"])
    known["keywords"] = tuple(rng.sample(["brexit", "Trade", "Ёлка"], rng.randint(0, 2)))
    desk = rng.choice([{}, {"desk": "Berlin"}, {"Desk": ["Bonn", "BERLIN"]}, {"desk": "bonn", "x": 1}])
    known["metadata"] = desk
    return document(f"d{number}", *(text() for _ in range(rng.randint(1, 6))), **known)


def random_query(rng: random.Random, vocabulary: list[str], sources: Sequence[str]) -> str:
    def word() -> str:
        return rng.choice(vocabulary)

    def phrase_words() -> list[str]:
        start, length = rng.randrange(len(vocabulary)), rng.randint(1, 3)
        return rng.choice([rng.choices(vocabulary, k=length), vocabulary[start : start + length]])

    def clause() -> str:
        phrase = f'"{" ".join(phrase_words())}"'
        prefix = f"{word()[: rng.randint(1, 5)]}*"
        date = rng.choice(["before:2017-03-15", "after:2017-03", "after:2017-04-01T10:00:00Z"])
        metadata = rng.choice([*(f"source:{source}" for source in sources), "language:de", "lang:EN", date])
        of_attributes = [
            'author:"jane doe"',
            "by:李明",
            "section:sport",
            'section:"World: Asia"',
            "keyword:ёлка",
        ]
        of_attributes += [
            "tag:Brexit",
            "meta.desk:berlin",
            "meta.DESK:Bonn",
            "keyword:trade",
            "author:nobody",
        ]
        attribute = rng.choice(of_attributes)
        title = f"title:{rng.choice([word(), phrase, prefix])}"
        return rng.choice([word(), word(), phrase, phrase, f"+{word()}", prefix, title, metadata, attribute])

    parts = []
    for _ in range(rng.randint(1, 4)):
        parts.append(rng.choice(["", "", "", "-", "NOT "]) + clause())
        if rng.random() < 0.3:
            parts.append(rng.choice(["OR", "AND"]))
    if rng.random() < 0.3:
        parts[0:0] = rng.choice([["("], ["-("], ["NOT ("], [f"{clause()} AND ("], [f"{clause()} OR ("]])
        parts.insert(rng.randint(2, len(parts)), ")")
    return " ".join(parts)


@pytest.mark.parametrize("analyzer, shards", [("english-stem", 1), ("multilingual", 3)])
def test_both_engines_let_through_what_a_plain_scan_does(
    elasticsearch_url: str, tmp_path: Path, analyzer: str, shards: int
) -> None:
    compare_engines(elasticsearch_url, tmp_path, analyzer, [shards], 15)


@pytest.mark.endurance
def test_thousands_of_queries_on_both_engines(elasticsearch_url: str, tmp_path: Path) -> None:
    compare_engines(elasticsearch_url, tmp_path, "multilingual", SHARDS, rounds(850))


@pytest.mark.endurance
@pytest.mark.skipif(not NEWS.exists(), reason="the collection newsarticles-cc0 is not part of the project")
def test_queries_of_real_news_on_both_engines(elasticsearch_url: str, tmp_path: Path) -> None:
    """Each query is made of the words of a sentence. Settings for a longer run are in the environment."""
    rng = random.Random(7)
    news = [found.document for found in loaders.read_documents([str(NEWS)], "auto")]
    documents = rng.sample(news, int(os.environ.get("ESR_TEST_NEWS", 200)))
    sentences = [sentence.text for each in documents for sentence in each.sentences]
    queries = int(os.environ.get("ESR_TEST_QUERIES", rounds(600)))
    vocabularies = [words for text in rng.sample(sentences, queries) if (words := text.split())]
    sources = sorted({each.source for each in documents if each.source})
    compare(elasticsearch_url, tmp_path, "english-stem", SHARDS, Corpus(documents, vocabularies, sources), 1)


def compare_engines(url: str, folder: Path, analyzer: str, shards: Sequence[int], queries: int) -> None:
    """Queries of each alphabet."""
    rng, numbers = random.Random(analyzer), count()
    vocabularies = [text.split() for text in ALPHABETS.values()]
    documents = [random_document(rng, next(numbers), words) for words in vocabularies for _ in range(25)]
    compare(url, folder, analyzer, shards, Corpus(documents, vocabularies, SOURCES), queries)


class Corpus(NamedTuple):
    """Documents, and the words and sources that queries are made of."""

    documents: list[Document]
    vocabularies: list[list[str]]
    sources: Sequence[str]


def compare(
    url: str, folder: Path, analyzer: str, shards: Sequence[int], corpus: Corpus, queries: int
) -> None:
    """Queries of each vocabulary: the same sentences as the scan, in the order of exhaustive scoring."""
    rng, documents = random.Random(analyzer), corpus.documents
    load(str(folder / "index"), documents, analyzer=analyzer)
    with ExitStack() as stack:
        on_disk = stack.enter_context(open_searcher(str(folder / "index")))
        clusters = []
        for n in shards:
            where = stack.enter_context(fresh(url))
            load(where, documents, analyzer=analyzer, shards=n)
            clusters.append(stack.enter_context(open_searcher(where)))
        analyze = on_disk.index.analyzer.terms
        scanned = list(scan(documents, analyze))
        compared = 0
        for words in corpus.vocabularies:
            for _ in range(queries):
                text = random_query(rng, words, corpus.sources)
                parsed = esr.parse_query(text)
                try:
                    prepared = on_disk.prepare(parsed, RANKING)
                except esr.errors.UsageError:
                    continue
                satisfying = [s for s in scanned if satisfies(s, parsed.groups, analyze)]
                expected = {s.id for s in satisfying if s.terms or not prepared.plan.needs_term}
                hits = prepared.search(len(scanned), records=False).hits
                assert {hit.sentence_id for hit in hits} == expected, text
                cache = prepared.index.cache  # type: ignore[attr-defined]
                exact = search_exhaustive(resolve_plan(prepared.index, prepared.plan), cache, 100, NO_FILTERS)
                assert [hit.ordinal for hit in hits[:100]] == exact.ordinals.tolist(), text
                for cluster in clusters:
                    answer = cluster.search(parsed, 100, ranking=RANKING, records=False)
                    assert answer.total == len(expected), text
                    assert not differences(list(hits), list(answer.hits), min(100, len(hits))), text
                compared += bool(expected)
        assert compared > queries * len(corpus.vocabularies) / 4
