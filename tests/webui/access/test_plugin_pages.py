"""Pages and operations of plug-ins are behind the login, and see what their caller may see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from esr.plugin import register, unregister
from tests.webui.access.conftest import MARK, Caller, Server, text_of
from tests.webui.test_plugins import PLUGIN


@pytest.fixture(autouse=True)
def plugin() -> Iterator[None]:
    register(PLUGIN)
    yield
    unregister(PLUGIN)


@pytest.mark.slow
def test_a_plugin_is_behind_the_login_and_sees_what_the_key_may_see(
    server: Server, either: dict[str, str]
) -> None:
    part = server.add("part", "--index", "news", "--filter", 'source:"Sports Post"')
    app = server.app(either)
    allowed, nobody = Caller(app.test_client(), part), Caller(app.test_client(), None)
    for path in ("/plugins/found", "/api/v1/plugins/echo"):
        assert nobody(path, q="storm").status_code == 401
        assert allowed(path, q="storm", index="other").status_code == 403
        shown = allowed(path, q="storm")
        assert shown.status_code == 200 and MARK not in text_of(shown)
    assert "goalkeeper" in text_of(allowed("/plugins/found", q="storm"))
