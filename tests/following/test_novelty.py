"""What is new, beside a plain scan of the exported documents, on both engines and several shards."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest

import esr
from esr.documents import Document
from esr.documents.dates import parse_date_start
from esr.engines.index import NO_FILTERS, Filters, Hit, Index
from esr.errors import UsageError
from esr.following import novelty
from esr.following.novelty import find_novel, group_hits
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.both_engines import open_loaded
from tests.support.elasticsearch import document, load

Terms = frozenset[str]
RARE = [f"rare{n}" for n in range(30)]
ADDED = ["she", "told", "reuters", "on", "friday"]


def documents() -> list[Document]:
    """Two hundred stories: most repeat an earlier sentence, with words added, left out or moved."""
    rng, told, stories = random.Random(8), [["storm", *RARE[:8]]], []
    for n in range(200):
        texts = []
        for _ in range(rng.randint(1, 3)):
            words = [*rng.choice(told)]
            if rng.random() < 0.4:
                words = ["storm", *rng.sample(RARE, rng.randint(2, 10))]
            words = [word for word in words if word == "storm" or rng.random() < 0.95]
            words += rng.sample(ADDED, rng.randint(0, 3))
            rng.shuffle(words)
            told.append(words)
            texts.append(" ".join(words) + ".")
        day = date(2017, 1, 1) + timedelta(days=rng.randrange(100))
        stories.append(document(f"d{n}", *texts, **({"date": f"{day}"} if rng.random() < 0.9 else {})))
    return stories


@pytest.fixture(
    scope="module",
    params=[
        ("embedded", None),
        pytest.param(("elasticsearch", 1), marks=pytest.mark.elasticsearch),
        pytest.param(("elasticsearch", 3), marks=pytest.mark.elasticsearch),
    ],
    ids=["embedded", "one shard", "three shards"],
)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    engine, shards = request.param
    request.param = engine
    folder: Path = tmp_path_factory.mktemp("novelty")
    with open_loaded(request, folder, documents(), analyzer="plain", shards=shards) as opened:
        yield opened


def scan(searcher: Searcher, threshold: float, first: int | None = None) -> list[str]:
    """The ids of what is new, by all pairs. `first`: the first millisecond that is asked for."""
    stories = list(searcher.index.documents())
    in_order = sorted(
        ((s, each) for each in stories for s in each.sentences),
        key=lambda pair: parse_date_start(pair[1].date) if pair[1].date else math.inf,
    )
    matching = [(s.id, _terms(s.text), each.date) for s, each in in_order if "storm" in _terms(s.text)]
    sf = Counter(term for s, _ in in_order for term in _terms(s.text))
    weights = {term: math.log((len(in_order) + 1) / (0.5 + count)) for term, count in sf.items()}

    def share(of: Terms, earlier: Terms) -> float:
        return math.fsum(weights[t] for t in of & earlier) / math.fsum(weights[t] for t in of)

    new = []
    for n, (id, terms, when) in enumerate(matching):
        if first is not None and (when is None or parse_date_start(when) < first):
            continue
        if not any(_repeats(terms, earlier, share, threshold) for _, earlier, _ in matching[:n]):
            new.append(id)
    return new


def _repeats(terms: Terms, earlier: Terms, share: Callable[[Terms, Terms], float], threshold: float) -> bool:
    if 2 * len(terms & earlier) < (len(terms) if len(terms) >= 5 else max(len(terms), len(earlier))):
        return False
    both = len(terms) >= 5 or share(earlier, terms) >= threshold
    return both and share(terms, earlier) >= threshold


def _terms(text: str) -> Terms:
    return frozenset(text.strip(".").split())


def ids(searcher: Searcher, k: int, threshold: float, filters: Filters = NO_FILTERS) -> Sequence[str]:
    novel = find_novel(searcher.prepare("storm", Ranking()), k, filters, threshold=threshold)
    assert novel.answer.incomplete is None
    return [hit.sentence_id for hit in novel.answer.hits]


@pytest.mark.parametrize("threshold", [0.6, 0.8, 1.0])
def test_what_is_new_is_what_a_plain_scan_finds(searcher: Searcher, threshold: float) -> None:
    expected = scan(searcher, threshold)
    assert 50 < len(expected) < 350
    assert ids(searcher, 1000, threshold) == expected
    assert ids(searcher, 7, threshold) == expected[:7]


def test_what_was_said_before_the_first_day_is_not_new(searcher: Searcher) -> None:
    first = parse_date_start("2017-03-01")
    expected = scan(searcher, 0.8, first)
    assert 0 < len(expected) < len(scan(searcher, 0.8))
    assert ids(searcher, 1000, 0.8, Filters(date_from=first)) == expected


def test_reading_goes_on_until_k_are_new(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scan(searcher, 0.5)
    monkeypatch.setattr(novelty, "_FIRST_READ", 4)
    monkeypatch.setattr(novelty, "_GROWTH", 2)
    analyzed: list[str] = []
    calls: list[int] = []
    analyze = novelty._analyze

    def note(hits: Sequence[Hit], index: Index) -> list[Terms]:
        calls.append(len(hits))
        analyzed.extend(hit.sentence_id for hit in hits)
        return analyze(hits, index)

    monkeypatch.setattr(novelty, "_analyze", note)
    assert ids(searcher, len(expected), 0.5) == expected
    assert len(calls) > 1 and sum(calls) > 2 * len(expected), "one reading was enough"
    assert sum(calls) == len(set(analyzed)), "a sentence was analysed again"


def test_the_answer_says_so_where_too_much_would_have_to_be_read(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = scan(searcher, 0.8)
    monkeypatch.setattr(novelty, "MAX_READ", 50)
    novel = find_novel(searcher.prepare("storm", Ranking()), 45)
    total = novel.answer.total
    assert [hit.sentence_id for hit in novel.answer.hits] == expected[: len(novel.answer.hits)]
    assert novel.answer.incomplete == (
        f"only the oldest 50 of {total} sentences were compared: limit the dates, or add words to the query"
    )
    monkeypatch.setattr(novelty, "MAX_BEFORE", 5)
    late = Filters(date_from=parse_date_start("2017-03-01"))
    with_before = find_novel(searcher.prepare("storm", Ranking()), 1, late).answer.incomplete
    assert with_before is not None and "only the last 5 of" in with_before


def test_every_sentence_that_was_read_is_in_one_group(searcher: Searcher) -> None:
    novel = find_novel(searcher.prepare("storm", Ranking()), 1000)
    in_groups = [hit.sentence_id for group in novel.repeats.values() for hit in group]
    in_groups += [hit.sentence_id for hit in novel.answer.hits]
    assert len(in_groups) == len(set(in_groups)) == novel.answer.total


def test_new_sentences_have_the_scores_of_the_ranking(searcher: Searcher) -> None:
    prepared = searcher.prepare("storm", Ranking())
    ranked = {hit.sentence_id: hit.score for hit in prepared.search(1000).hits}
    novel = find_novel(prepared, 20).answer.hits
    assert len(novel) == 20
    for hit in novel:
        assert hit.score == pytest.approx(ranked[hit.sentence_id], rel=1e-4)


def test_both_engines_fold_the_same_sentences(searcher: Searcher, tmp_path: Path) -> None:
    """Clusters of a list are those of a folder of the same documents."""
    hits = searcher.prepare("storm", Ranking()).search(300).hits
    grouped = group_hits(hits, searcher.index, 0.8)
    assert 20 < len(grouped) < 250
    load(f"{tmp_path}/folder", documents(), analyzer="plain")
    with esr.open(f"{tmp_path}/folder") as folder:
        assert group_hits(hits, folder.index, 0.8) == grouped


@pytest.mark.parametrize(("k", "threshold", "said"), [(0, 0.8, "k must be"), (5, 0.3, "the overlap must be")])
def test_wrong_numbers_are_refused(tmp_path: Path, k: int, threshold: float, said: str) -> None:
    load(f"{tmp_path}/folder", documents()[:3], analyzer="plain")
    with esr.open(f"{tmp_path}/folder") as folder, pytest.raises(UsageError, match=said):
        find_novel(folder.prepare("storm", Ranking()), k, threshold=threshold)
