"""Environment variables for the login to Elasticsearch, and the removal of logins from printed locations.

This module imports neither engine, since the command line names these variables in its options for both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

API_KEY, API_KEY_FILE = "ESR_API_KEY", "ESR_API_KEY_FILE"
USER, PASSWORD, PASSWORD_FILE = "ESR_USER", "ESR_PASSWORD", "ESR_PASSWORD_FILE"
CA_FILE, INSECURE = "ESR_CA_FILE", "ESR_INSECURE"
VARIABLES: Mapping[str, str] = {
    API_KEY: "an API key of Elasticsearch, used if the location of the index has no login",
    API_KEY_FILE: "a file that contains the API key",
    USER: "a user of Elasticsearch, used if the location of the index has no login",
    PASSWORD: "the user's password",
    PASSWORD_FILE: "a file that contains the user's password",
    CA_FILE: "a file (PEM) with the certificates of the authorities to trust, instead of the system's",
    INSECURE: "1: do not verify Elasticsearch's certificate, and log a warning at each connection",
}


def redact(text: str) -> str:
    """Replace the logins in one or several locations, even malformed ones."""
    return re.sub(r"//[^\s]*@", "//…@", text)
