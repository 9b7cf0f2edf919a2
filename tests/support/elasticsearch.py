"""What the tests against a real node share: fresh aliases, plain HTTP, and the comparison of answers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from math import isclose
from typing import Any
from urllib.request import Request, urlopen

import pytest
from elastic_transport import Urllib3HttpNode

from esr.elastic.cluster import Cluster
from esr.elastic.location import DOCUMENTS, SENTENCES
from esr.elastic.statistics import TermStatisticsReader
from esr.errors import UsageError
from esr.index.factory import open_writer
from esr.index.hits import Hit
from esr.index.writer import LoadOptions, LoadReport
from esr.text.document import Document, Located, Sentence

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
