"""Installs the files of `index_templates/` in a cluster. Installing them again changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elasticsearch import AuthorizationException, Elasticsearch, NotFoundError

from esr import resources
from esr.analysis import definitions
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.index import Description

FORMAT = 7


def install(cluster: Cluster) -> None:
    """Put component templates, index templates and stored scripts. Ids of scripts contain their version.

    A script that is there is not put again: Elasticsearch would compile it.
    """
    client = cluster.client
    with cluster.translate_errors():
        for name in resources.list_names("components", ".json"):
            client.cluster.put_component_template(name=name, **resources.load_json(f"components/{name}.json"))
        for name in resources.list_names("indices", ".json"):
            client.indices.put_index_template(name=name, **resources.load_json(f"indices/{name}.json"))
        for name in resources.list_names("scripts", ".painless"):
            script = {"lang": "painless", "source": resources.read_text(f"scripts/{name}.painless")}
            if _stored_script(client, name) != script:
                client.put_script(id=name, script=script)


def _stored_script(client: Elasticsearch, name: str) -> Mapping[str, Any] | None:
    """A stored script as the cluster has it; None if it has none, or the login may not read it."""
    try:
        answer = client.get_script(id=name)
    except (NotFoundError, AuthorizationException):
        return None
    return {key: answer["script"][key] for key in ("lang", "source")}


def index_body(
    description: Description, shards: int, replicas: int | None, meta: Mapping[str, Any]
) -> dict[str, Any]:
    """What the templates leave open for a new index: analyzer, shards, replicas and its `_meta`.

    Without it an index takes no entries: its templates name a pipeline that does not exist.
    """
    analysis = definitions.get(description.analyzer).settings
    analyzers = analysis["analyzer"]
    replication = {} if replicas is None else {"auto_expand_replicas": False, "number_of_replicas": replicas}
    return {
        "settings": {
            "number_of_shards": shards,
            **replication,
            "refresh_interval": "-1",
            "final_pipeline": "_none",  # else that of the templates, which refuses entries
            "analysis": {**analysis, "analyzer": {**analyzers, "default": analyzers[description.analyzer]}},
        },
        "mappings": {"_meta": meta},
    }
