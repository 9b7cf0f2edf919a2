"""What the tests against a real node share: fresh aliases, plain HTTP, and the comparison of answers."""

from __future__ import annotations

import json
import math
import secrets
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import product
from math import isclose
from typing import Any
from urllib.request import Request, urlopen

import pytest
from elastic_transport import Urllib3HttpNode

from esr.elastic.cluster import Cluster
from esr.elastic.impacts import COUNTS, LENGTHS, find_slack
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.location import DOCUMENTS, SENTENCES
from esr.elastic.search import pruned_search
from esr.elastic.search.sentence_search import Search
from esr.elastic.statistics import TermStatisticsReader
from esr.errors import UsageError
from esr.index.factory import open_writer
from esr.index.filters import Filters
from esr.index.hits import Hit, SearchResult
from esr.index.writer import LoadOptions, LoadReport
from esr.plans.plan import CANDIDATES, Plan, Unprunable
from esr.text.document import Document, Located, Sentence
from tests.support.pruning import FILTERS, QUERIES, SETTINGS

RELATIVE = 1e-4
"""Elasticsearch keeps scores as 32-bit floats, and adds a shift to them."""


def http(method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
    """The decoded answer; nothing of esr and of the client is used. Raises HTTPError."""
    data = body.encode() if isinstance(body, str) else body and json.dumps(body).encode()
    known = {"Content-Type": "application/json", **(headers or {})}
    with urlopen(Request(url, data or None, known, method=method), timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def indices(url: str, alias: str) -> list[str]:
    """The indices of an alias and of its loads, whether they are served or not."""
    return sorted(http("GET", f"{url}/{alias}*/_settings?expand_wildcards=all"))


def all_indices(where: str) -> list[str]:
    """The same of a place, `URL/alias`."""
    url, _, alias = where.rpartition("/")
    return indices(url, alias)


def index_settings(where: str) -> list[Mapping[str, Any]]:
    """The settings of the indices behind the alias of a place."""
    return [body["settings"]["index"] for body in http("GET", f"{where}/_settings").values()]


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """A place on the node that nothing else uses: `URL/alias`. All of it is removed afterwards."""
    alias = f"esr-test-{secrets.token_hex(4)}"
    try:
        yield f"{url}/{alias}"
    finally:
        for index in indices(url, alias):
            http("DELETE", f"{url}/{index}")


def make_failing_load(where: str, name: str) -> list[dict[str, Any]]:
    """Make the two indices of a load whose sentence lacks the lengths that the scripts need: its shard fails.

    Returns the actions that put both behind the aliases of the place.
    """
    url, _, alias = where.rpartition("/")
    settings = {"index": {"final_pipeline": "_none"}}  # as esr's own; the templates' pipeline refuses entries
    actions = []
    for kind, of_kind in ((SENTENCES, alias), (DOCUMENTS, f"{alias}-documents")):
        (served,) = http("GET", f"{url}/{of_kind}/_mapping").values()
        index = f"{alias}-{name}{kind}"
        mappings = {"_meta": served["mappings"]["_meta"]}
        http("PUT", f"{url}/{index}", {"settings": settings, "mappings": mappings})
        actions.append({"add": {"index": index, "alias": of_kind}})
    sentence = {"text": "flood", "context": "flood", "ordinal": 0}
    http("PUT", f"{url}/{alias}-{name}{SENTENCES}/_doc/1?refresh=true", sentence)
    return actions


def counts_occurrences(where: str) -> bool:
    """Whether the cluster's own cf is right for this index: before 9.4, only one shard counts occurrences."""
    with closing(Cluster(where)) as cluster:
        try:
            TermStatisticsReader(cluster).check_engine_counts()
        except UsageError:
            return False
    return True


def record_timeouts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that esr waits at most for each answer of a node, one for each attempt."""
    timeouts: list[float] = []
    perform = Urllib3HttpNode.perform_request

    def recorded(node: Urllib3HttpNode, *args: Any, **options: Any) -> Any:
        timeouts.append(options["request_timeout"])
        return perform(node, *args, **options)

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", recorded)
    return timeouts


def record_requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The method and the path of each request that esr sends to a node."""
    requests: list[str] = []
    perform = Urllib3HttpNode.perform_request

    def recorded(node: Urllib3HttpNode, method: str, target: str, *args: Any, **options: Any) -> Any:
        requests.append(f"{method} {target.partition('?')[0]}")
        return perform(node, method, target, *args, **options)

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", recorded)
    return requests


def located(documents: Iterable[Document]) -> Iterator[Located]:
    for number, document in enumerate(documents, 1):
        yield Located(f"test:{number}", document)


def load(where: str, documents: Iterable[Document], **options: Any) -> LoadReport:
    return open_writer(where, LoadOptions(**options)).load(located(documents))


def document(name: str, *sentences: str, **known: Any) -> Document:
    return Document(name, tuple(Sentence(f"{name}.s{n}", text) for n, text in enumerate(sentences)), **known)


def close(a: float, b: float) -> bool:
    return isclose(a, b, rel_tol=RELATIVE, abs_tol=1e-5)


def differences(exact: Sequence[Hit], got: Sequence[Hit], k: int) -> list[str]:
    """What is wrong with the best k of `got`, where `exact` is the right order with more than k hits.

    Two sentences may change places only where their exact scores are the same to `RELATIVE`.
    """
    scores = {hit.sentence_id: hit.score for hit in exact}
    wrong = []
    if len(got) != min(k, len(exact)):
        wrong.append(f"{len(got)} hits instead of {min(k, len(exact))}")
    if len({hit.sentence_id for hit in got}) != len(got):
        wrong.append("a sentence twice")
    for place, (right, hit) in enumerate(zip(exact, got, strict=False)):
        if hit.sentence_id not in scores:
            wrong.append(f"place {place}: {hit.sentence_id} is no candidate, or far below place {k}")
        elif not close(scores[hit.sentence_id], right.score):
            wrong.append(f"place {place}: {hit} instead of {right}")
        elif not close(hit.score, scores[hit.sentence_id]):
            wrong.append(f"{hit} should have {scores[hit.sentence_id]}")
    return wrong


# Compares what pruning on Elasticsearch finds with what scoring everything finds.


KS = (1, 2, 7, 1000)
LONGEST = 150
"""Sentences of the longest document where a test loads an index of its own."""


def load_for_pruning(where: str, documents: list[Located], **options: Any) -> None:
    options.setdefault("if_exists", "fail")
    open_writer(where, LoadOptions(analyzer="plain", **options)).load(documents)


def pairwise_cases(number: int) -> Iterator[tuple[str, dict[str, Any], str, int, Filters]]:
    """Rules, options, queries, k and filters for the ranking of this number.

    Each ranking has every pair of a query with options, and of each with a rule. Other rankings have them
    with another rule, k and filter.
    """
    rules = sorted(CANDIDATES)
    for (o, options), (q, query) in product(enumerate(SETTINGS), enumerate(QUERIES)):
        turn = o + q + number
        filters = FILTERS[(q + q // 2 * 2 + number // 2) % len(FILTERS)]
        yield rules[turn % len(rules)], options, query, KS[turn % len(KS)], filters


def exhaustive(index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters) -> SearchResult:
    return Search(index.cluster, plan, index.bounded_collection(plan), filters, False).exhaustive(k, None)


def check_pruned(
    index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters
) -> SearchResult | Unprunable:
    """Compares the pruned result with the exhaustive one, and returns it."""
    statistics = index.statistics(plan.candidate_terms)
    slack = find_slack(index.opened.impacts, plan, statistics)
    search = Search(index.cluster, plan, index.bounded_collection(plan), filters, False, slack)
    result = pruned_search.search_pruned(search, k, statistics)
    if not isinstance(result, Unprunable):
        expected = exhaustive(index, plan, k, filters)
        assert result.hits == expected.hits, (plan, k, filters)
        assert result.total == expected.total
        assert result.incomplete is None and result.exhaustive is None
        assert result.scored is not None and min(k, expected.total) <= result.scored <= expected.total
    return result


# What the codes of term maxima mean, as the scripts of Elasticsearch unpack them.


_SMALLEST_LENGTH = 0x3F800000
"""The bits of 1, as a float."""
_SMALLEST_SHARE = 0x38000000
"""The bits of 2^-15."""
_STEP = 1 << 21
"""From one float of two bits behind the leading one to the next."""


def unpack_maxima(code: int) -> tuple[float, float, float]:
    """The count (infinite if unknown), the length and the share of a code."""
    count_code, rest = code % COUNTS, code // COUNTS
    length_code, share_code = rest % LENGTHS, rest // LENGTHS
    if count_code < 4:
        count = count_code + 1.0
    else:
        count = 2.0 ** (count_code - 1) if count_code < COUNTS - 1 else math.inf
    return count, _float(_SMALLEST_LENGTH + length_code * _STEP), _float(_SMALLEST_SHARE + share_code * _STEP)


def _float(bits: int) -> float:
    number: float = struct.unpack("f", struct.pack("i", bits))[0]
    return number
