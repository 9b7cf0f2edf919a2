"""Logins and roles of Elasticsearch, as the user names them: environment variables, and uses of roles."""

from __future__ import annotations

from collections.abc import Mapping

API_KEY, API_KEY_FILE = "ESR_API_KEY", "ESR_API_KEY_FILE"
USER, PASSWORD, PASSWORD_FILE = "ESR_USER", "ESR_PASSWORD", "ESR_PASSWORD_FILE"
CA_FILE, INSECURE = "ESR_CA_FILE", "ESR_INSECURE"
VARIABLES: Mapping[str, str] = {
    API_KEY: "an API key of Elasticsearch, unless the index's URL contains a login",
    API_KEY_FILE: "a file with the API key",
    USER: "a user of Elasticsearch, unless the index's URL contains a login",
    PASSWORD: "the user's password",
    PASSWORD_FILE: "a file with the user's password",
    CA_FILE: "a file (PEM) with the certificates of the authorities to trust, instead of the system's",
    INSECURE: "1: do not verify Elasticsearch's certificate, and warn of that at each connection",
}
ROLES: Mapping[str, str] = {
    "page": "search and read: esr serve, esr search, esr export",
    "loader": "write to its indices: esr load, append, remove, enrich, rollback, delete",
    "operator": "the rights of a loader, snapshots, and the cluster's settings",
}
