"""One Chromium and one server for all tests of a process, over a small enriched index."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask
from msgspec.structs import replace
from werkzeug.serving import WSGIRequestHandler, make_server

from esr.index.contract import Index
from esr.ranking.searcher import Searcher, open_searcher
from tests.support import page_corpus as corpus
from tests.support.runs import end_test, need
from webui.app import create_app
from webui.running.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

playwright = need("playwright.sync_api")


class AdjustableIndex:
    """An index whose searches can be slow, incomplete or failing, as a test sets them."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.reset()

    def reset(self) -> None:
        self.error: Exception | None = None
        self.incomplete: str | None = None
        self.released = threading.Event()
        self.released.set()

    def snapshot(self) -> AdjustableIndex:
        return self

    def on_latest(self, work: Callable[[Any], Any]) -> Any:
        return work(self)

    def search(self, *args: Any, **kwargs: Any) -> Any:
        self.released.wait(20)
        if self.error:
            raise self.error
        result = self.index.search(*args, **kwargs)
        return replace(result, incomplete=self.incomplete)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)


class Quiet(WSGIRequestHandler):
    def log(self, *args: Any, **kwargs: Any) -> None: ...


class Site:
    """The server. `url` makes an address of it."""

    def __init__(self, app: Flask, index: AdjustableIndex) -> None:
        self.index = index
        self._server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    where = str(tmp_path_factory.mktemp("browser") / "index")
    corpus.store(where)
    with open_searcher(where) as searcher:
        index = AdjustableIndex(searcher.index)
        site = Site(create_app(Searcher(index), Settings(access_log=0)), index)  # type: ignore[arg-type]
        yield site
        site.close()


def find_chromium() -> str | None:
    """That of the system; None for the one that Playwright has installed.

    Without the parts for windows it takes a sixth of the processor time to open a page.
    """
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as browsers:
        try:
            started = browsers.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        except playwright.Error as error:
            reason = f"no Chromium: install one, or run playwright install chromium ({error.message[:80]!r})"
            end_test(reason)
        yield started
        started.close()


Opens = Callable[..., "Page"]


def query_box(page: Page) -> Locator:
    """The box for the query. With scripts it is a combobox, without them a plain search box."""
    return page.get_by_label("Words to search for")


def follow(link: Locator) -> None:
    """Click what leads to another page and wait for it: a click alone can return while the old one shows."""
    with link.page.expect_event("load"):
        link.click()


def _watch(page: Page, site: Site, problems: list[str], fails: bool) -> Page:
    """Note what goes wrong in a page. One that `fails` may write errors to its console."""
    page.set_default_timeout(8_000)
    page.set_default_navigation_timeout(30_000)  # the first page of a server on a busy machine
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    page.on("request", lambda r: None if r.url.startswith(site.url("/")) else problems.append(r.url))
    if not fails:
        page.on("console", lambda m: problems.append(f"{page.url}: {m.text}") if m.type == "error" else None)
    return page


def _cookies(page: Page) -> list[str]:
    return [f"cookie {cookie['name']}" for cookie in page.context.cookies()]


@pytest.fixture
def opens(browser: Browser, site: Site) -> Iterator[Opens]:
    """A function that opens an address in a fresh browser context.

    In the end, nothing must have gone wrong in a page: no error, no violation of the content policy, no
    request to elsewhere, no cookie.
    """
    problems: list[str] = []
    pages: list[Page] = []

    def open_page(
        path: str, width: int = 1280, height: int = 900, fails: bool = False, **options: Any
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        pages.append(_watch(context.new_page(), site, problems, fails))
        pages[-1].goto(site.url(path))
        return pages[-1]

    site.index.reset()
    yield open_page
    for page in pages:
        problems += _cookies(page)
        page.context.close()
    assert not problems


Tabs = dict[str, tuple["Page", list[str]]]


@pytest.fixture(scope="module")
def tabs() -> Iterator[Tabs]:
    """The tabs of `visits` by their options, each with what went wrong in it."""
    opened: Tabs = {}
    yield opened
    for page, _ in opened.values():
        page.context.close()


@pytest.fixture
def visits(browser: Browser, site: Site, tabs: Tabs) -> Iterator[Opens]:
    """A function that opens an address as `opens` does, but in a tab that tests share.

    For pages that are looked at and not used. Another page in a tab takes a third of the processor time of
    one in a fresh context.
    """

    def visit(path: str, width: int = 1280, height: int = 900, fails: bool = False, **options: Any) -> Page:
        key = repr((fails, sorted(options.items())))
        if key not in tabs:
            problems: list[str] = []
            tabs[key] = _watch(browser.new_context(**options).new_page(), site, problems, fails), problems
        page, _ = tabs[key]
        page.set_viewport_size({"width": width, "height": height})
        page.goto(site.url(path))
        return page

    site.index.reset()
    yield visit
    noted = [problem for page, problems in tabs.values() for problem in (*problems, *_cookies(page))]
    for _, problems in tabs.values():
        problems.clear()
    assert not noted
