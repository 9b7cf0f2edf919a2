"""The rate of `esr load` compared with the client's bulk helper, which sends the same entries from a file.

    python -m benchmarks.loading FILE http://localhost:9200 [--workers N]

The helper sends to indices with the same mapping and settings on the same node. Prints the rates, and the
peak memory of the loader, which is a separate process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elasticsearch import helpers

from esr import loaders
from esr.elastic.cluster import Cluster
from esr.elastic.impacts import choose_base, describe_impacts
from esr.elastic.location import new_sentences_index
from esr.elastic.meta import Load
from esr.elastic.write.generations import delete_indices
from esr.elastic.write.spool import ExistingCollection, spool_actions, write_spool
from esr.elastic.write.templates import index_body, install_templates
from esr.index.writer import Description
from esr.ranking.ranking import Ranking

DESCRIPTION = Description("english", True)


def load_plain(source: str, url: str) -> tuple[int, float]:
    """Sentences and seconds of the bulk helper, from a file of prepared entries to a refreshed index."""
    cluster = Cluster(f"{url}/benchmark-plain")
    install_templates(cluster)
    mixture = Ranking().mixture()
    assert mixture is not None
    with tempfile.TemporaryDirectory() as folder:
        spool = write_spool(Path(folder) / "spool", DESCRIPTION, loaders.read_documents([source]))
        impacts = describe_impacts(choose_base(mixture), spool.statistics.collection)
        index = new_sentences_index(cluster.alias, "")
        load = Load(index, DESCRIPTION, False, "benchmark:0:0", impacts=impacts)
        for index in (load.index, load.documents_index):
            body = index_body(DESCRIPTION, 1, None, load.as_meta(cluster.dialect))
            cluster.client.indices.create(index=index, **body)
        entries = Path(folder) / "entries.jsonl"
        with entries.open("w") as file:
            for document in spool_actions(spool, load, ExistingCollection()):
                for action in (document.entry, *document.sentences):
                    file.write(json.dumps(action) + "\n")

        def actions() -> Iterator[dict[str, Any]]:
            with entries.open() as lines:
                yield from map(json.loads, lines)

        started = time.perf_counter()
        helpers.bulk(cluster.client, actions(), chunk_size=1000, max_chunk_bytes=8_000_000)
        cluster.client.indices.refresh(index=[load.index, load.documents_index])
        seconds = time.perf_counter() - started
    count = cluster.client.count(index=load.index)["count"]
    delete_indices(cluster, [load.index])
    cluster.close()
    return count, seconds


def load_by_esr(source: str, url: str, workers: str) -> tuple[float, float]:
    """Seconds of `esr load`, without the start of its process, and its peak memory in MB."""
    location = f"{url}/benchmark-load"
    command = [sys.executable, "-c", "from esr.cli import run; run()"]
    options = ["--if-exists", "replace", "--keep", "0", "--workers", workers, "--json"]
    process = subprocess.run(
        [*command, "load", source, "--index", location, *options], check=True, capture_output=True, text=True
    )
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    subprocess.run([*command, "delete", "--index", location, "--yes"], check=True, capture_output=True)
    return json.loads(process.stdout)["seconds"], memory


def main(source: str, url: str, *rest: str) -> None:
    workers = rest[1] if rest[:1] == ("--workers",) else "2"
    for _ in range(2):
        sentences, seconds = load_plain(source, url)
        print(f"plain bulk helper  {sentences / seconds:8.0f} sentences/s  {seconds:6.1f} s")
        seconds, memory = load_by_esr(source, url, workers)
        print(
            f"esr load           {sentences / seconds:8.0f} sentences/s  {seconds:6.1f} s  {memory:6.0f} MB"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
