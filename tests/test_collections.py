"""Both engines rank real collections alike: the best 100 of every model, context and prior.

The collections are not part of the project. The tests look for them in a folder `shared` beside it.
Every ranking answers some of the topics, and every topic some of the rankings, which takes a minute or
two. With ESR_TEST_ALL_TOPICS=1, every ranking answers every topic, which takes ten.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import pytest

from esr import loaders, models
from esr.models.priors import PRIORS
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.topics.topic_files import read_topics
from tests.support.elasticsearch import differences, fresh, load
from tests.support.runs import IS_LONG

COLLECTIONS = Path(__file__).resolve().parents[2] / "shared" / "collections"
SPLITS = [
    (m.name, c)
    for m in models.MODELS.values()
    if not Ranking(m.name).needs()  # the collections have no parses
    for c in (m.contexts or (None,))
]
RANKINGS = [
    {"model": model, "context": context, "priors": prior}
    for (model, context), prior in product(SPLITS, [{}, *({name: 1.0} for name in PRIORS)])
]
K = 100
STEP = 1 if os.environ.get("ESR_TEST_ALL_TOPICS") == "1" else 8 if IS_LONG else 32

pytestmark = pytest.mark.endurance


class Collection(NamedTuple):
    name: str
    documents: int
    topics: int
    shards: int


# All of news-core takes minutes to load: its first documents are enough to see a difference.
WANTED = [Collection("squad-small", 1283, 200, 1), Collection("news-core", 3000, 50, 3)]


class Loaded(NamedTuple):
    embedded: Searcher
    elasticsearch: Searcher
    topics: list[str]


@pytest.fixture(scope="module", params=WANTED, ids=lambda wanted: wanted.name)
def loaded(
    request: pytest.FixtureRequest, elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    wanted: Collection = request.param
    folder = COLLECTIONS / wanted.name
    if not folder.is_dir():
        pytest.skip(
            f"the collection {wanted.name} is not there: it would be in shared/collections beside the project"
        )
    topics = [topic.query() for topic in read_topics(folder / "topics.tsv")][: wanted.topics]
    part = tmp_path_factory.mktemp(wanted.name) / "docs.jsonl"
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        part.write_text("".join(islice(lines, wanted.documents)), "utf-8")
    index = str(part.parent / "index")
    documents = [found.document for found in loaders.read_documents([str(part)], "auto")]
    assert (len(documents), len(topics)) == (wanted.documents, wanted.topics)
    load(index, documents)
    with fresh(elasticsearch_url) as where:
        load(where, documents, shards=wanted.shards)
        with open_searcher(index) as embedded, open_searcher(where) as elasticsearch:
            yield Loaded(embedded, elasticsearch, topics)


def test_the_best_hundred_are_the_same_on_both_engines(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The collection stands still: its statistics are asked for once and not every ten seconds.
    monkeypatch.setattr("esr.elastic.statistics.MAX_AGE", 1e9)

    def compare(number: int) -> list[str]:
        topic, wrong = loaded.topics[number], []
        for ranking in RANKINGS[number % STEP :: STEP]:
            # Some more, so that a tie at the last place is seen as one.
            right = loaded.embedded.search(topic, 2 * K, records=False, **ranking)
            got = loaded.elasticsearch.search(topic, K, records=False, **ranking)
            wrong += [f"{topic!r} {ranking}: {problem}" for problem in differences(right.hits, got.hits, K)]
            if right.total != got.total or got.incomplete:
                wrong.append(
                    f"{topic!r} {ranking}: {right.total} candidates, got {got.total}, {got.incomplete}"
                )
        return wrong

    with ThreadPoolExecutor(4) as pool:
        wrong = [problem for problems in pool.map(compare, range(len(loaded.topics))) for problem in problems]
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:10])
