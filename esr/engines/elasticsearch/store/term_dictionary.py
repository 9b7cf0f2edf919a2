"""Reads terms from the term dictionary of the index of documents."""

from __future__ import annotations

import re

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import ask
from esr.errors import EsrError

_TERM = re.compile(r"\bcontext:([^\s()^]+)")


def read_terms_with_prefix(cluster: Cluster, prefix: str, limit: int) -> list[str]:
    """The first `limit` terms with this prefix, in the order of their characters' codes.

    They are read from how each shard rewrites a prefix query: into its first terms, all of one boost.
    `_terms_enum` finds nothing in text fields.
    """
    rewritten = {"value": prefix, "rewrite": f"top_terms_{limit}"}
    with cluster.translate_errors():
        answer = ask(
            cluster,
            lambda: cluster.client.indices.validate_query(
                index=cluster.documents_alias,
                query={"prefix": {"context": rewritten}},
                rewrite=True,
                all_shards=True,
            ),
        )
    explanations = answer["explanations"]
    if not answer["valid"] or answer["_shards"]["failed"]:
        raise EsrError(f"{cluster.where} cannot list terms with the prefix {prefix!r}: {explanations}")
    terms = {term for shard in explanations for term in _TERM.findall(shard["explanation"])}
    # A shard without such terms leaves the query as it is: the prefix and a star, which no term contains.
    terms.discard(f"{prefix}*")
    return sorted(term for term in terms if term.startswith(prefix))[:limit]
