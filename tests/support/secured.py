"""Plain HTTP to a node with security: as a user, or by an API key."""

from __future__ import annotations

import base64
import json
import ssl
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.support.node import Cluster


class Api:
    """What a login may do. Nothing of esr and of the client is used."""

    def __init__(self, cluster: Cluster, key: str | None = None) -> None:
        self.url = cluster.url
        self._context = ssl.create_default_context(cafile=cluster.ca_file) if cluster.ca_file else None
        user = ":".join(cluster.auth or ())
        self._login = f"ApiKey {key}" if key else f"Basic {base64.b64encode(user.encode()).decode()}"

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and decoded answer, whatever the status is. A list is sent as lines."""
        lines = "".join(f"{json.dumps(line)}\n" for line in body) if isinstance(body, list) else None
        data = lines if lines is not None else body and json.dumps(body)
        headers = {"Content-Type": "application/json", "Authorization": self._login}
        request = Request(f"{self.url}{path}", data.encode() if data else None, headers, method=method)
        try:
            with urlopen(request, timeout=60, context=self._context) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"null")

    def key(self, roles: dict[str, Any], **more: str) -> str:
        """An API key that may do what these role descriptors say."""
        status, answer = self.ask(
            "POST", "/_security/api_key", {"name": "-".join(roles), "role_descriptors": roles, **more}
        )
        assert status == 200, answer
        found: str = answer["encoded"]
        return found
