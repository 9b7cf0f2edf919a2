"""Templates: what a cluster stores before an index is made, and the body of the request that makes one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from elasticsearch import AuthorizationException, Elasticsearch, NotFoundError

from esr import resources
from esr.elastic.cluster import Cluster
from esr.elastic.documents import added_properties
from esr.index.writer import Description
from esr.text.analyzer_definitions import get_definition


def install_templates(cluster: Cluster) -> None:
    """Put component templates, index templates and stored scripts. Repeating it changes nothing.

    Ids of scripts contain their version. Existing scripts are not put again, since Elasticsearch would
    compile them.
    """
    client, dialect = cluster.client, cluster.dialect
    with cluster.translate_errors():
        for name in resources.list_names("components", ".json"):
            template = dialect.template(resources.load_json(f"components/{name}.json"))
            client.cluster.put_component_template(name=name, **template)
        for name in resources.list_names("indices", ".json"):
            template = dialect.template(resources.load_json(f"indices/{name}.json"))
            client.indices.put_index_template(name=name, **template)
        for name in resources.list_names("scripts", ".painless"):
            scripts = dialect.scripts(name, resources.read_text(f"scripts/{name}.painless"))
            for id, source in scripts.items():
                script = {"lang": "painless", "source": source}
                if _stored_script(client, id) != script:
                    client.put_script(id=id, script=script)


def map_field(cluster: Cluster, indices: Iterable[str], component: str, name: str) -> None:
    """Add a field of a component template to indices that older versions of esr created without it.

    The same for properties of the field.
    """
    template = resources.load_json(f"components/{component}.json")["template"]
    field = cluster.dialect.template(template["mappings"]["properties"][name])
    with cluster.translate_errors():
        for index in indices:
            mappings = cluster.client.indices.get_mapping(index=index)[index]["mappings"]
            stored = mappings["properties"].get(name)
            if stored is None or field.get("properties", {}).keys() - stored.get("properties", {}).keys():
                cluster.client.indices.put_mapping(index=index, properties={name: field})


def _stored_script(client: Elasticsearch, name: str) -> Mapping[str, Any] | None:
    """A stored script; None if it does not exist or the login may not read it."""
    try:
        answer = client.get_script(id=name)
    except (NotFoundError, AuthorizationException):
        return None
    return {key: answer["script"][key] for key in ("lang", "source")}


def index_body(
    description: Description, shards: int, replicas: int | None, meta: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of a new index, with what the templates leave open: analyzer, shards, replicas and `_meta`.

    An index created without this body rejects entries, since the templates name a nonexistent pipeline.
    """
    analysis = get_definition(description.analyzer).settings
    analyzers = analysis["analyzer"]
    added = added_properties(description)
    replication = {} if replicas is None else {"auto_expand_replicas": False, "number_of_replicas": replicas}
    return {
        "settings": {
            "number_of_shards": shards,
            **replication,
            "final_pipeline": "_none",  # replaces the templates' nonexistent pipeline
            "analysis": {**analysis, "analyzer": {**analyzers, "default": analyzers[description.analyzer]}},
        },
        "mappings": {"_meta": meta, **({"properties": added} if added else {})},
    }
