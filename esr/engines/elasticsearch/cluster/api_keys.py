"""API keys of Elasticsearch."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.errors import EngineUnreachable

_PAUSE_SECONDS = 1.0


def create_api_key(where: str, role_descriptors: Mapping[str, Any], patience: float = 0.0) -> str:
    """Create an API key with these roles, and return it as ESR_API_KEY takes it.

    The current login must be one of a user, and a key never has more privileges than that user. A cluster
    that has just been started rejects every login until its own index of users and keys is active: for
    `patience` seconds, that is no error yet. Raises EsrError where the user may create no keys.
    """
    end = time.monotonic() + patience
    with closing(Cluster(where)) as cluster:
        while True:
            try:
                return _create(cluster, role_descriptors)
            except EngineUnreachable:
                if time.monotonic() + _PAUSE_SECONDS > end:
                    raise
            time.sleep(_PAUSE_SECONDS)


def _create(cluster: Cluster, role_descriptors: Mapping[str, Any]) -> str:
    with cluster.translate_errors():
        answer = cluster.client.security.create_api_key(
            name=f"esr-{cluster.alias}-{'-'.join(role_descriptors)}", role_descriptors=dict(role_descriptors)
        )
    encoded: str = answer["encoded"]
    return encoded
