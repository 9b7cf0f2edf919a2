"""Sends the files of `index_templates/` to a cluster. Sending them again changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr import resources
from esr.analysis.analyzer import DEFINITION
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.index import Description

FORMAT = 2


def install(cluster: Cluster) -> None:
    """Component templates, index templates, stored scripts. Script ids carry their version."""
    client = cluster.client
    with cluster.errors():
        for name in resources.names("components", ".json"):
            client.cluster.put_component_template(name=name, **resources.load(f"components/{name}.json"))
        for name in resources.names("indices", ".json"):
            client.indices.put_index_template(name=name, **resources.load(f"indices/{name}.json"))
        for name in resources.names("scripts", ".painless"):
            script = {"lang": "painless", "source": resources.text(f"scripts/{name}.painless")}
            client.put_script(id=name, script=script)


def creation(
    description: Description, shards: int, replicas: int | None, meta: Mapping[str, Any]
) -> dict[str, Any]:
    """What the templates leave open: analyzer, shards, their copies, and what the index says of itself."""
    analyzers = resources.load(DEFINITION)["template"]["settings"]["analysis"]["analyzer"]
    copies = {} if replicas is None else {"auto_expand_replicas": False, "number_of_replicas": replicas}
    return {
        "settings": {
            "number_of_shards": shards,
            **copies,
            "refresh_interval": "-1",
            "analysis": {"analyzer": {"default": analyzers[description.analyzer]}},
        },
        "mappings": {"_meta": meta},
    }
