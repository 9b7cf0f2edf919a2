"""Opens the writer of a load into Elasticsearch: of a whole delivery, or of one slice."""

from __future__ import annotations

from contextlib import closing

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.slice_writer import SliceWriter
from esr.engines.elasticsearch.load.writer import ElasticsearchWriter
from esr.engines.elasticsearch.store import meta
from esr.engines.index import Description
from esr.engines.options import LoadOptions
from esr.errors import IndexMissing, IndexUnusable


def describe_existing(where: str, if_exists: str) -> Description | None:
    """How the index behind the alias was made, or None.

    Raises IndexUnusable if it is something else, or if it is incomplete and not to be replaced.
    """
    with closing(Cluster(where)) as cluster:
        cluster.check_version()
        loads = meta.aliased_loads(cluster)
        for name in (cluster.alias, cluster.documents_alias):
            with cluster.translate_errors():
                exists = cluster.client.indices.exists(index=name)
                is_alias = cluster.client.indices.exists_alias(name=name)
            if exists and not is_alias:
                raise IndexUnusable(
                    f"{cluster.url}/{name} is an index, but esr needs its name for an alias: "
                    "use another alias, or delete that index"
                )
        if if_exists != "replace":
            try:
                meta.check_complete(cluster)
            except IndexMissing:
                return None
        return loads[0].description if loads else None


def create_writer(
    where: str, description: Description, options: LoadOptions, append: bool
) -> ElasticsearchWriter:
    writer = ElasticsearchWriter if options.slice is None else SliceWriter
    return writer(where, description, options, append=append)
