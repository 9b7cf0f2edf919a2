from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing

import pytest

from esr import resources
from esr.elastic.cluster import Cluster
from esr.elastic.meta import install_templates
from tests.support.elasticsearch import http

pytestmark = pytest.mark.elasticsearch


@pytest.fixture
def script(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the only resource, which no other test uses."""
    name = f"esr-test-{secrets.token_hex(4)}"
    monkeypatch.setattr(resources, "list_names", lambda folder, _: [name] if folder == "scripts" else [])
    yield name
    http("DELETE", f"{elasticsearch_url}/_scripts/{name}")


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
