"""Access to Elasticsearch: the roles that each user of esr needs, and API keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.elastic.location import ROLES, parse_alias, role_descriptors

__all__ = ["ROLES", "create_api_key", "parse_alias", "role_descriptors"]


def create_api_key(where: str, role_descriptors: Mapping[str, Any], patience: float = 0.0) -> str:
    """Create an API key with these roles, within `patience` seconds if Elasticsearch is only starting.

    Raises EsrError where the login may create none.
    """
    from esr.elastic.requests import issue_api_key  # which imports the client

    return issue_api_key(where, role_descriptors, patience)
