"""Access to Elasticsearch: the roles that each kind of user of esr needs, and API keys for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.elastic.location import ROLES, parse_alias, role_descriptors

__all__ = ["ROLES", "create_api_key", "parse_alias", "role_descriptors"]


def create_api_key(where: str, role_descriptors: Mapping[str, Any], patience: float = 0.0) -> str:
    """Create an API key with these roles and return it as ESR_API_KEY takes it.

    Keep trying for `patience` seconds while Elasticsearch is starting. Raises EsrError if the login may not
    create API keys.
    """
    from esr.elastic.requests import issue_api_key  # imports the client

    return issue_api_key(where, role_descriptors, patience)
