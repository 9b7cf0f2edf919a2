"""Statistics of terms equal those of the sentences for any frequency; static scores stay within their
bounds.
"""

from __future__ import annotations

import json
import math
import random
import secrets
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from esr import resources
from esr.cli import main
from esr.elastic import statistics, vectors
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import ELASTICSEARCH, OPENSEARCH, Dialect
from esr.elastic.impacts import COUNTS, FIRST, LENGTHS, SHARES, code_weight, pack_lengths, pack_maxima
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.requests import msearch_dfs
from esr.elastic.statistics import TermStatisticsReader, static_bounds
from esr.elastic.vectors import decode_vector, encode_vector, index_vectors, map_vectors, source_with_vectors
from esr.elastic.write.templates import install_templates
from esr.errors import UsageError
from esr.following.repeats import weigh_by_rarity
from esr.index.questions import TermHolders
from esr.models.curves import fit_curve
from esr.models.tfidf_models import rarity
from esr.plans.evaluate import apply_static_score
from esr.plans.plan import CollectionStatistics, Curve, StaticScore, TermStatistics
from esr.ranking.searcher import open_searcher
from esr.text.sentence_enrichment import QuantizedVector
from tests.support.elasticsearch import (
    counts_occurrences,
    document,
    fresh,
    http,
    load_for_pruning,
    unpack_maxima,
)
from tests.support.elasticsearch import load as load_documents
from tests.support.processes import wait_until
from tests.support.pruning import adverse_documents

NUMBERS = st.floats(-100.0, 100.0)


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """Curves of any slopes, which may turn between two of their values."""
    values = sorted(draw(st.sets(st.integers(-50, 50), min_size=1, max_size=5)))
    adds, slopes = (draw(st.tuples(*[NUMBERS] * len(values))) for _ in range(2))
    return Curve(tuple(map(float, values)), adds, slopes, draw(st.none() | NUMBERS))


def curve_bounds(curve: Curve, weight: float) -> tuple[StaticScore, float, float]:
    static_score = StaticScore("length", "curve", weight, curve=curve, required=True)
    low, high = static_bounds(static_score, CollectionStatistics(bounds={static_score: (-60.0, 60.0)}))
    return static_score, low, high


@given(curve=curves(), weight=st.sampled_from([-2.0, 1.0]))
def test_a_curve_of_any_slopes_stays_within_its_bounds(curve: Curve, weight: float) -> None:
    static_score, low, high = curve_bounds(curve, weight)
    added = apply_static_score(static_score, np.linspace(-60.0, 60.0, 2001))
    assert low - 1e-6 <= added.min() and added.max() <= high + 1e-6


def test_the_bounds_of_an_estimated_curve_are_its_least_and_its_greatest_value() -> None:
    adds = [0.5, -1.0, 2.0, 2.0, 7.0]
    _, low, high = curve_bounds(fit_curve([0.0, 1.0, 3.0, 10.0, 11.0], adds), 1.0)
    assert (low, high) == pytest.approx((-1.0, 7.0))


REPEATING = [document(f"d{n}", "flood flood bank", "flood stone flood", "stone river") for n in range(10)]
EXACT = {
    "flood": TermStatistics(20, 10, 40),
    "stone": TermStatistics(20, 10, 20),
    "bank": TermStatistics(10, 10, 10),
    "river": TermStatistics(10, 10, 10),
    "unknown": TermStatistics(0, 0, 0),
}


@pytest.mark.elasticsearch
@pytest.mark.parametrize("shards", [1, 3])
def test_counts_of_any_size_are_exact(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    """Scores have 32 bits, which do not hold all digits of a large number."""
    documents = adverse_documents(30)
    occurrences: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    searches: list[int] = []

    def record(cluster: object, lines: list[object]) -> list[object]:
        searches.append(len(lines))
        return msearch_dfs(cluster, lines)  # type: ignore[arg-type]

    with fresh(elasticsearch_url) as where:
        load_for_pruning(where, documents, shards=shards)
        if not counts_occurrences(where):
            pytest.skip("this version of Elasticsearch gives sf in place of cf")
        monkeypatch.setattr(statistics, "msearch_dfs", record)
        with closing(ElasticsearchIndex(where)) as index:
            for located in documents:
                for sentence in located.document.sentences:
                    terms = index.analyzer.terms(sentence.text)
                    occurrences.update(terms)
                    holders.update(set(terms))
            terms = [*occurrences, "unknown"]
            for exact in (1 << 24, 64):
                monkeypatch.setattr(statistics, "FIRST_INEXACT", exact)
                found = TermStatisticsReader(index.cluster).read(terms)
                assert {term: of_term.cf for term, of_term in found.items()} == {
                    term: occurrences[term] for term in terms
                }
                assert {term: of_term.sf for term, of_term in found.items()} == {
                    term: holders[term] for term in terms
                }
    assert max(occurrences.values()) > 300 and max(holders.values()) > 64
    assert searches == [3, 3], "no occurrences were summed over the hits"


@pytest.fixture(scope="module", params=[3, 1], ids=["3 shards", "3 indices"])
def spread(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[str]:
    """An index whose searches span several shards, of one index or of several."""
    with fresh(elasticsearch_url) as where:
        if request.param == 3:
            load_documents(where, REPEATING, shards=3)
        else:
            for start in (0, 3, 6):
                documents = REPEATING[start : start + 3] if start < 6 else REPEATING[start:]
                load_documents(where, documents, if_exists="append" if start else "fail")
        yield where


def count_searches(monkeypatch: pytest.MonkeyPatch, *, is_faulty: bool) -> list[int]:
    """How many searches each request for statistics has.

    `is_faulty`: answers are those of Elasticsearch before 9.4, whose cf over several shards is its sf.
    """
    searches: list[int] = []

    def answer(cluster: Any, lines: list[Any]) -> list[Any]:
        if "longest" not in lines[0][1].get(
            "aggs", ()
        ):  # statistics of the collection are no statistics of terms
            searches.append(len(lines))
        answers = msearch_dfs(cluster, lines)
        for hit in (hit for answer in answers for hit in answer["hits"]["hits"] if is_faulty):
            scores = hit.get("matched_queries", {})
            of_sf = {name.removeprefix("sf"): score for name, score in scores.items() if name[:2] == "sf"}
            scores |= {f"low{position}": score for position, score in of_sf.items()}
            scores |= {f"high{position}": 0.0 for position in of_sf}
        return answers

    monkeypatch.setattr(statistics, "msearch_dfs", answer)
    return searches


@pytest.mark.elasticsearch
def test_counts_are_exact_where_elasticsearch_counts_sentences_in_place_of_occurrences(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches = count_searches(monkeypatch, is_faulty=True)
    with closing(ElasticsearchIndex(spread)) as index:
        for terms in (["river"], ["flood", "unknown"], ["stone", "bank"]):
            assert index.statistics(terms).terms == {term: EXACT[term] for term in terms}
    assert searches == [3, 1, 3, 1, 3, 2], "no occurrences are summed for a term that no sentence has"


@pytest.mark.elasticsearch
def test_a_right_server_is_asked_once_as_soon_as_a_repeated_term_is_known(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not counts_occurrences(spread):
        pytest.skip("this version of Elasticsearch gives sf in place of cf")
    searches = count_searches(monkeypatch, is_faulty=False)
    with closing(ElasticsearchIndex(spread)) as index:
        for terms in (["river"], ["flood"], ["stone", "bank"], ["unknown"]):
            assert index.statistics(terms).terms == {term: EXACT[term] for term in terms}
    assert searches == [3, 1, 3, 3, 3]


@pytest.mark.elasticsearch
def test_sentences_with_a_term_are_as_many_as_the_statistics_say(
    spread: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_documents(str(tmp_path / "index"), REPEATING)
    holders = {term: of_term.sf for term, of_term in EXACT.items()}
    with open_searcher(str(tmp_path / "index")) as embedded:
        assert embedded.index.vocabulary(TermHolders(list(EXACT))) == holders
        assert weigh_by_rarity(embedded.index, ["bank"]) == {"bank": rarity(30, 10)}
    with closing(ElasticsearchIndex(spread)) as index:
        snapshot = index.snapshot()
        assert weigh_by_rarity(snapshot, ["bank"]) == {"bank": rarity(30, 10)}
        monkeypatch.delattr(statistics, "msearch_dfs")  # which reads whole statistics
        assert (
            index.vocabulary(TermHolders(list(EXACT)))
            == snapshot.vocabulary(TermHolders(list(EXACT)))
            == holders
        )
        monkeypatch.delattr(statistics, "search")
        assert snapshot.vocabulary(TermHolders(["stone", "flood"])) == {"stone": 20, "flood": 20}


@pytest.mark.elasticsearch
def test_one_shard_is_asked_once(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = count_searches(monkeypatch, is_faulty=False)
    with fresh(elasticsearch_url) as where:
        load_documents(where, REPEATING)
        with closing(ElasticsearchIndex(where)) as index:
            for terms in (["river"], ["stone", "bank"]):
                assert index.statistics(terms).terms == {term: EXACT[term] for term in terms}
    assert searches == [3, 3]


@pytest.mark.elasticsearch
def test_a_standalone_request_over_shards_is_refused_where_it_would_not_be_exact(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["query", "river bank", "--standalone", "--index", spread]
    if counts_occurrences(spread):
        assert CliRunner().invoke(main, command).exit_code == 0
    count_searches(monkeypatch, is_faulty=True)
    result = CliRunner().invoke(main, command)
    assert result.exit_code != 0
    assert "has several shards, over which its version of Elasticsearch counts sentences" in result.stderr
    assert "--shards 1" in result.stderr and not result.stdout
    assert CliRunner().invoke(main, [arg for arg in command if arg != "--standalone"]).exit_code == 0


@pytest.mark.elasticsearch
@pytest.mark.parametrize("shards", [1, 3])
def test_a_standalone_request_is_printed_where_nothing_is_counted_twice(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    """Then sf is cf, on any version."""
    count_searches(monkeypatch, is_faulty=True)
    with fresh(elasticsearch_url) as where:
        load_documents(where, [document(f"d{n}", "flood bank") for n in range(6)], shards=shards)
        result = CliRunner().invoke(main, ["query", "flood", "--standalone", "--index", where])
    assert result.exit_code == 0, result.output


# The term maxima of a document are packed so that they stay bounds.


def pack(count: int, length: int, share: float) -> tuple[float, float, float]:
    """What is left of three maxima."""
    (code,) = pack_maxima(np.array([float(count)]), np.array([float(length)]), np.array([share])).tolist()
    return unpack_maxima(code)


def upper_bits(number: float) -> int:
    """What the postings of a sparse vector keep of a weight."""
    bits: int = struct.unpack("i", struct.pack("f", number))[0]
    return bits >> 15


def test_every_code_survives_a_round_trip() -> None:
    codes = range(COUNTS * LENGTHS * SHARES)
    assert [upper_bits(code_weight(code)) - FIRST for code in codes] == list(codes)


def test_small_numbers_are_exact() -> None:
    for count, length in product(range(1, 5), range(1, 9)):
        assert pack(count, length, 0.25) == (count, length, 0.25 * 1.25)
    assert pack(1, 1, 1.0) == (1, 1, 1.0)


def test_large_numbers_are_rounded_to_the_safe_side() -> None:
    assert pack(5, 9, 0.3) == (8, 8, 0.3125)
    assert pack(32, 230, 1e-9)[:2] == (32, 224)
    assert pack(33, 5000, 1e-9) == (math.inf, 224, 2.0**-15)


def test_the_lengths_of_a_document_are_one_number() -> None:
    extent = pack_lengths(70_000, [3, 40_000, 0])
    assert (extent >> 42, extent >> 21 & 0x1FFFFF, extent & 0x1FFFFF) == (70_000, 40_000, 0)
    assert pack_lengths(0, []) == 0
    longest = 0x1FFFFF
    for length in (longest, longest + 1, 10**9):
        assert pack_lengths(length, [length, 7]) == longest << 42 | longest << 21 | 7


SENTENCES, DIMENSIONS = 300, 384


@pytest.fixture
def cluster(where: str) -> Iterator[Cluster]:
    """An alias under which there is an index without vectors."""
    http("PUT", where, {"mappings": {"properties": {"text": {"type": "text"}}}})
    with closing(Cluster(where)) as cluster:
        yield cluster


def draw_vectors(number: int) -> list[QuantizedVector]:
    draw = random.Random(1)
    return [
        QuantizedVector(bytes(draw.randrange(256) for _ in range(DIMENSIONS)), 0.5) for _ in range(number)
    ]


def store(cluster: Cluster, vectors: list[QuantizedVector]) -> None:
    map_vectors(cluster, [cluster.alias], DIMENSIONS)
    for number, vector in enumerate(vectors):
        cluster.client.index(index=cluster.alias, id=str(number), document={"vectors": encode_vector(vector)})


@pytest.mark.parametrize("dialect", [ELASTICSEARCH, OPENSEARCH], ids=["numbers", "bytes"])
def test_a_stored_vector_is_read_again(dialect: Dialect) -> None:
    for vector in draw_vectors(3):
        field = json.loads(json.dumps(encode_vector(vector, dialect)))
        assert decode_vector(field) == vector
    zeros = decode_vector(encode_vector(QuantizedVector(bytes(DIMENSIONS), 0.0), dialect))
    assert not np.any(zeros.array * zeros.scale)


@pytest.mark.elasticsearch
def test_vectors_are_stored_once(where: str, cluster: Cluster) -> None:
    store(cluster, draw_vectors(SENTENCES))
    answer = http("POST", f"{where}/_disk_usage?run_expensive_tasks=true&flush=true")
    fields = answer[cluster.alias]["fields"]
    assert fields["vectors.d384"]["total_in_bytes"] >= SENTENCES * DIMENSIONS
    assert fields["_source"]["total_in_bytes"] < SENTENCES * DIMENSIONS / 4


@pytest.mark.elasticsearch
def test_an_update_of_another_field_keeps_the_vector(where: str, cluster: Cluster) -> None:
    (vector,) = draw_vectors(1)
    store(cluster, [vector])
    http("POST", f"{where}/_update/0?refresh=true", {"doc": {"text": "storm"}})
    answer = cluster.client.search(index=cluster.alias, source=source_with_vectors(cluster, ["vectors"]))
    (hit,) = answer["hits"]["hits"]
    assert hit["_source"]["vectors"] == encode_vector(vector)


@pytest.mark.elasticsearch
def test_vectors_of_zeros_are_stored_and_an_index_of_one_segment_is_built_anew(
    where: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="are not there yet"):
        index_vectors(cluster, [cluster.alias])
    store(cluster, [QuantizedVector(bytes(DIMENSIONS), 0.0), *draw_vectors(9)])
    http("POST", f"{where}/_forcemerge?max_num_segments=1")
    http("POST", f"{where}/_refresh")
    before = segments(where)
    monkeypatch.setattr(vectors, "MANY", 9)
    _, note = index_vectors(cluster, [cluster.alias])
    assert note.startswith("there are 10 vectors in a shard: of more than 9, the index misses more")
    query = {
        "knn": {"field": "vectors.d384", "query_vector": [1] * DIMENSIONS, "k": 10, "num_candidates": 10}
    }
    wait_until(lambda: segments(where) not in ([], before) and len(segments(where)) == 1, "merging")
    assert len(http("POST", f"{where}/_search", {"query": query, "size": 20})["hits"]["hits"]) == 10


def segments(where: str) -> list[str]:
    (index,) = http("GET", f"{where}/_segments")["indices"].values()
    return [name for copies in index["shards"].values() for name in copies[0]["segments"]]


@pytest.mark.elasticsearch
def test_vectors_that_an_older_esr_stored_get_no_index(where: str, cluster: Cluster) -> None:
    older = {"type": "dense_vector", "element_type": "byte", "dims": 3, "similarity": "max_inner_product"}
    http("PUT", f"{where}/_mapping", {"properties": {"vectors": {"properties": {"d3": older}}}})
    with pytest.raises(UsageError, match="were stored by an older esr: load the collection again"):
        index_vectors(cluster, [cluster.alias])


@pytest.mark.elasticsearch
def test_fields_that_are_mapped_already_stay_as_they_are(where: str, cluster: Cluster) -> None:
    older = {"type": "dense_vector", "element_type": "byte", "dims": 3, "index": False}
    http("PUT", f"{where}/_mapping", {"properties": {"vectors": {"properties": {"d3": older}}}})
    map_vectors(cluster, [cluster.alias], 3)
    fields = http("GET", f"{where}/_mapping")[cluster.alias]["mappings"]["properties"]["vectors"][
        "properties"
    ]
    assert (fields["d3"]["index"], fields["scale"]["type"]) == (False, "float")


@pytest.fixture
def script(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the only resource, which no other test uses."""
    name = f"esr-test-{secrets.token_hex(4)}"
    monkeypatch.setattr(resources, "list_names", lambda folder, _: [name] if folder == "scripts" else [])
    yield name
    http("DELETE", f"{elasticsearch_url}/_scripts/{name}")


@pytest.mark.elasticsearch
def test_only_a_script_that_is_missing_or_differs_is_put(
    elasticsearch_url: str, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    with closing(Cluster(f"{elasticsearch_url}/news")) as cluster:
        put = cluster.client.put_script
        monkeypatch.setattr(
            cluster.client, "put_script", lambda **body: (written.append(body["id"]), put(**body))
        )
        for source, puts in (("1 + 1", 1), ("1 + 1", 1), ("1 + 2", 2)):
            monkeypatch.setattr(resources, "read_text", lambda path, source=source: source)
            install_templates(cluster)
            stored = http("GET", f"{elasticsearch_url}/_scripts/{script}")["script"]
            assert (stored["source"], written) == (source, [script] * puts)
