"""A server with a desk, and people who open its pages by keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

import pytest
from flask import Flask

from tests.webui.access.conftest import Server, locations, server

__all__ = ["Person", "app", "locations", "server"]
HOME = "https://localhost"


class Person:
    """Somebody who reads pages and sends their forms."""

    def __init__(self, app: Flask, server: Server, name: str, *options: str) -> None:
        self._client = app.test_client()
        self._headers = {"Authorization": f"Bearer {server.add(name, *options)}"}

    def open(self, path: str, *, follow: bool = True, **options: Any) -> Any:
        """The answer at a path; with `data`, to a form."""
        headers = self._headers | options.pop("headers", {})
        return self._client.open(path, base_url=HOME, headers=headers, follow_redirects=follow, **options)

    def read(self, path: str) -> str:
        """The text of a page, without its markup."""
        answer = self.open(path)
        assert answer.status_code == 200, answer.get_data(as_text=True)[-2_000:]
        return text_of(answer)

    def send(self, path: str, headers: Mapping[str, str] | None = None, **data: Any) -> Any:
        """The answer to a form of this person."""
        page = self.open("/dossiers").get_data(as_text=True)
        token, *_ = re.findall(r'action="/dossiers">\s*<input type="hidden" name="csrf" value="(\w+)"', page)
        return self.open(path, method="POST", headers=headers or {}, data={"csrf": token, **data})

    def make(self, name: str, *sentences: str) -> str:
        """Make a dossier with these sentences. Returns the path of its page."""
        answer = self.send("/save", id=list(sentences), dossier="", name=name)
        assert answer.status_code == 200 and len(answer.history) == 1
        return f"{answer.request.path}?{answer.request.query_string.decode()}"


def text_of(answer: Any) -> str:
    """What a page says: its text, with white space as one blank."""
    body = re.sub(r"(?s)<header class=\"top\">.*?</header>", "", answer.get_data(as_text=True))
    return " ".join(unescape(re.sub(r"<[^>]+>", "", body)).split())


@pytest.fixture
def app(server: Server, locations: dict[str, str]) -> Flask:
    return server.app(locations, desk=str(server.file.parent / "desk.sqlite"))
