"""API keys of Elasticsearch."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster


def create_api_key(where: str, role_descriptors: Mapping[str, Any]) -> str:
    """Create an API key with these roles, and return it as ESR_API_KEY takes it.

    The current login must be one of a user, and a key never has more privileges than that user. Raises
    EsrError where the user may create no keys.
    """
    with closing(Cluster(where)) as cluster, cluster.translate_errors():
        answer = cluster.client.security.create_api_key(
            name=f"esr-{cluster.alias}-{'-'.join(role_descriptors)}", role_descriptors=dict(role_descriptors)
        )
    encoded: str = answer["encoded"]
    return encoded
