"""A search finds out from its own answer whether the alias still leads where it led, and is right if not."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from elastic_transport import Urllib3HttpNode

import esr
from esr.elastic.cluster import AliasTargets
from esr.elastic.search import pruned_search
from esr.elastic.search.sentence_search import Presumption, SnapshotOutdated
from esr.errors import EsrError, IndexMissing, UsageError
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import all_indices, document, http, load

pytestmark = pytest.mark.elasticsearch
OLD = [document("old", "A flood at the bank.", "A river.")]
NEW = [document("new", "A flood in the valley."), document("newer", "The bank."), document("last", "Relief.")]
Requests = list[str]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Requests:
    """The addresses of all requests."""
    targets: Requests = []
    send = Urllib3HttpNode.perform_request

    def perform(self: Urllib3HttpNode, method: str, target: str, *args: object, **options: object) -> object:
        targets.append(target)
        return send(self, method, target, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", perform)
    return targets


@pytest.fixture(params=["exhaustive", "by documents", "by sentences"])
def searcher(
    request: pytest.FixtureRequest, where: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[esr.ranking.searcher.Searcher]:
    """It has searched: it knows the number of shards."""
    if request.param != "exhaustive":
        monkeypatch.setattr(pruned_search, "FEW_CANDIDATES", 0)
    mixture = Ranking().mixture() if request.param == "by sentences" else None
    load(where, OLD, precomputed_mixture=mixture)
    with open_searcher(where) as searcher:
        assert found(searcher, "flood") == ["old.s0", "old.s1"]
        yield searcher


def found(searcher: esr.ranking.searcher.Searcher, query: str, **options: object) -> list[str]:
    return [hit.sentence_id for hit in searcher.search(query, 10, **options).hits]  # type: ignore[arg-type]


def lookups(sent: Requests) -> int:
    return sum("/_alias/" in target for target in sent)


def test_a_further_search_does_not_look_the_alias_up(
    searcher: esr.ranking.searcher.Searcher, sent: Requests
) -> None:
    for query in ("flood", "bank river"):
        assert len(found(searcher, query)) == 2
    assert sent and lookups(sent) == 0


def test_an_answer_without_hits_is_followed_by_a_lookup(
    searcher: esr.ranking.searcher.Searcher, sent: Requests
) -> None:
    assert found(searcher, "unseen") == []
    assert lookups(sent) == 1


def test_the_next_search_sees_what_replaced_the_index(
    searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    load(where, NEW, if_exists="replace")
    assert found(searcher, "flood") == ["new.s0"]
    assert found(searcher, "relief") == ["last.s0"]


def test_the_next_search_sees_what_only_the_new_index_has(
    searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    load(where, NEW, if_exists="replace")
    assert found(searcher, "relief") == ["last.s0"]


def test_the_next_search_sees_a_second_index_that_has_none_of_its_words(
    searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    before = searcher.search("flood", 1).hits[0].score
    load(where, [document("more", "Nothing of that, nothing at all.")] * 1, if_exists="append")
    assert searcher.search("flood", 1).hits[0].score != before, "p(t|C) is another"
    with open_searcher(where) as fresh:
        assert searcher.search("flood", 10).hits == fresh.search("flood", 10).hits


def test_an_error_of_the_old_index_is_none_of_the_new_one(
    searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    """The feature is in the new index alone."""
    features = [{"feature": "x", "form": "linear", "w": 1.0}]
    with pytest.raises(UsageError, match="'x'"):
        found(searcher, "flood", features=features)
    sentence = NEW[0].sentences[0]
    featured = type(sentence)(sentence.id, sentence.text, {"x": 1.0})
    load(where, [type(NEW[0])("new", (featured,)), *NEW[1:]], if_exists="replace")
    assert found(searcher, "flood", features=features) == ["new.s0"]


def test_a_removed_index_is_missing(searcher: esr.ranking.searcher.Searcher, where: str) -> None:
    base = "{0.scheme}://{0.netloc}".format(urlsplit(where))
    for index in all_indices(where):
        http("DELETE", f"{base}/{index}")
    with pytest.raises(IndexMissing):
        found(searcher, "flood")


def test_a_mistake_is_still_an_error(searcher: esr.ranking.searcher.Searcher) -> None:
    with pytest.raises(EsrError, match="is empty"):
        found(searcher, " ")


@pytest.mark.parametrize(
    ("hits", "shards", "confirmed"),
    [(["a", "a"], 1, True), ([], 1, False), (["a", "b"], 1, None), (["b"], 1, None), (["a"], 2, None)],
)
def test_hits_and_shards_tell(hits: list[str], shards: int, confirmed: bool | None) -> None:
    """`confirmed` is None where the aliases lead elsewhere."""
    presumption = Presumption(
        AliasTargets("news", "news-documents"), AliasTargets("a", "d"), {"a": 1, "d": 1}
    )
    assert presumption.alias("d") == "news-documents"
    answer = {"hits": {"hits": [{"_index": name} for name in hits]}, "_shards": {"total": shards}}
    if confirmed is None:
        with pytest.raises(SnapshotOutdated):
            presumption.check("a", answer)
    else:
        presumption.check("a", answer)
    assert presumption.confirmed is bool(confirmed)
    assert presumption.needs("a") is not bool(confirmed)


def test_of_several_loads_nothing_is_presumed(
    searcher: esr.ranking.searcher.Searcher, where: str, sent: Requests
) -> None:
    load(where, NEW, if_exists="append")
    for _ in range(2):
        sent.clear()
        assert len(found(searcher, "flood bank")) == 4
    alias = where.rpartition("/")[2]
    by_alias = [target for target in sent if target.startswith((f"/{alias}/", f"/{alias}-documents/"))]
    assert (lookups(sent), by_alias) == (1, [])


def test_a_snapshot_does_not_keep_those_before_it(where: str) -> None:
    """A server makes one of each generation, and each has caches of its own."""
    load(where, OLD)
    with open_searcher(where) as searcher:
        first = weakref.ref(searcher.index.snapshot())
        load(where, NEW, if_exists="replace")
        searcher.index.snapshot()
        gc.collect()
        assert first() is None
