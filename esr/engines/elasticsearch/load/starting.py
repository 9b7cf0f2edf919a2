"""Begins a load into Elasticsearch, of a whole delivery or of a slice."""

from __future__ import annotations

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.loading import ElasticsearchWriter
from esr.engines.elasticsearch.load.slicing import SlicedWriter
from esr.engines.elasticsearch.store import meta
from esr.engines.index import Description
from esr.engines.options import LoadOptions
from esr.errors import IndexUnusable


def existing(where: str) -> Description | None:
    """How the index behind this alias was made, or None. Raises IndexUnusable if it is something else."""
    cluster = Cluster(where)
    try:
        cluster.check_version()
        found = meta.behind(cluster)
        for name in (cluster.alias, cluster.documents_alias):
            with cluster.errors():
                taken = cluster.client.indices.exists(index=name)
                is_alias = cluster.client.indices.exists_alias(name=name)
            if taken and not is_alias:
                raise IndexUnusable(
                    f"{cluster.url}/{name} is an index of its own: esr needs the name for an alias"
                )
        return found[0].description if found else None
    finally:
        cluster.close()


def start(where: str, description: Description, options: LoadOptions, append: bool) -> ElasticsearchWriter:
    if options.slice is not None:
        return SlicedWriter(where, description, options, append=append)
    return ElasticsearchWriter(where, description, options, append=append)
