"""Dossiers in two browsers with two accounts, with scripts and without."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from esr.cli import main
from esr.ranking.searcher import Searcher, open_searcher
from tests.browser.conftest import AdjustableIndex, Site, follow
from tests.browser.test_pages import violations
from tests.support import page_corpus as corpus
from tests.support.runs import need
from webui.app import create_app
from webui.running.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

need("argon2")
expect = need("playwright.sync_api").expect
PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with the accounts ana and ben, and a desk."""
    folder: Path = tmp_path_factory.mktemp("desk")
    (folder / "password").write_text(PASSWORD)
    (folder / "secret").write_text("s" * 40)
    for name in ("ana", "ben"):
        grant = ["--kind", "password", "--password-file", str(folder / "password")]
        with redirect_stdout(io.StringIO()):
            main(["keys", "add", name, "--file", str(folder / "access"), *grant], standalone_mode=False)
    corpus.store(str(folder / "index"))
    settings = Settings(
        access=str(folder / "access"),
        secret_file=str(folder / "secret"),
        plain_http=1,
        desk=str(folder / "desk"),
        alert_to="mailto:*@example.org",
        access_log=0,
    )
    with open_searcher(str(folder / "index")) as searcher:
        index = AdjustableIndex(searcher.index)
        site = Site(create_app(Searcher(index), settings), index)  # type: ignore[arg-type]
        yield site
        site.close()


@pytest.fixture
def opens(browser: Browser, desk: Site) -> Iterator[Callable[..., Page]]:
    """A function that opens an address in a browser of its own, as somebody."""
    problems: list[str] = []
    contexts = []

    def open_page(name: str, path: str = "/dossiers", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(8_000)
        page.on("pageerror", lambda error: problems.append(f"{path}: {error}"))
        page.goto(desk.url("/login"))
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        follow(page.locator("main button"))
        page.goto(desk.url(path))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


def make(page: Page, desk: Site, name: str, sentences: int = 3) -> str:
    """Make a dossier by saving the first sentences of a search. Returns its path."""
    page.goto(desk.url("/search?q=emergency+relief+drought+food"))
    for n in range(sentences):
        page.locator("a.clip").nth(n).click()
        dialog = page.locator("dialog.save-dialog")
        if not n:
            dialog.get_by_label("Name of the new dossier").fill(name)
        else:
            expect(dialog.locator(".where label").first).to_contain_text(name)  # it was used last
        dialog.get_by_role("button", name="Save").click()
        expect(page.locator(".told")).to_contain_text(name)
        expect(page.locator("a.clip").nth(n)).to_have_text("Saved")
    page.reload()
    for n in range(sentences):
        expect(page.locator("a.clip").nth(n)).to_have_text("Saved")
    page.goto(desk.url("/dossiers"))
    follow(page.get_by_role("link", name=name))
    return page.url.removeprefix(desk.url("")).partition("#")[0]


def items(page: Page) -> Locator:
    return page.locator(".item")


def texts(page: Page) -> list[str]:
    return items(page).locator(".found").all_inner_texts()


def edit(item: Locator, **values: str) -> None:
    """Fill in the form of an item, without sending it."""
    if not item.locator("form.edit").is_visible():
        item.locator(".editing > summary").click()
    for name, value in values.items():
        item.locator(f"[name={name}]").fill(value)


def save(item: Locator) -> None:
    item.locator("form.edit .btn").click()


def share(page: Page, name: str, role: str) -> None:
    page.get_by_text("Invite", exact=True).click()
    page.get_by_label("Account or group").fill(name)
    page.get_by_label("who", exact=True).select_option(role)
    follow(page.get_by_role("button", name="Share"))


@pytest.mark.slow
def test_two_people_write_in_one_dossier_and_nothing_is_lost(opens: Callable[..., Page], desk: Site) -> None:
    ana = opens("ana")
    path = make(ana, desk, "Relief, for two")
    share(ana, "ben", "writer")
    assert "told" not in ana.url and ana.locator(".notice").is_visible()
    ben = opens("ben", path)
    expect(ben.locator("h1")).to_have_text("Relief, for two")

    # The same note at once: both texts stay.
    edit(items(ana).nth(0), note="Open with this.", tags="lead")
    edit(items(ben).nth(0), note="Check the number.", tags="check")
    save(items(ana).nth(0))
    expect(items(ana).nth(0).locator(".memo")).to_contain_text("Open with this.")
    save(items(ben).nth(0))
    expect(ben.locator(".told-here")).to_contain_text("It has both texts now")
    expect(items(ben).nth(0).locator(".memo")).to_contain_text("Open with this.\n\nCheck the number.")
    assert items(ben).nth(0).locator(".tag").all_inner_texts() == ["lead", "check"]

    # Of two judgements one can hold: the other is shown, and what was typed stays in its field.
    ana.reload()
    edit(items(ana).nth(0), judgement="2")
    save(items(ana).nth(0))
    expect(items(ana).nth(0)).to_contain_text("Judgement: 2")
    edit(items(ben).nth(0), judgement="0", note="Check the number, Ana.")
    save(items(ben).nth(0))
    expect(ben.locator(".conflict")).to_contain_text("ana changed the judgement meanwhile, to: 2")
    expect(items(ben).nth(0).locator("[name=note]")).to_have_value("Check the number, Ana.")
    expect(items(ben).nth(0).locator("[name=judgement]")).to_have_value("0")
    save(items(ben).nth(0))
    expect(items(ben).nth(0)).to_contain_text("Judgement: 0")

    # One moves a sentence while the other writes about it.
    edit(items(ben).nth(1), note="I am writing")
    first, second, third = texts(ana)
    items(ana).nth(1).focus()
    ana.keyboard.press("Alt+ArrowUp")
    expect(items(ana).nth(0).locator(".found")).to_have_text(second)
    save(items(ben).nth(1))
    expect(items(ben).nth(0).locator(".memo")).to_contain_text("I am writing")
    assert texts(ben) == [second, first, third]

    # One removes what the other writes about: the text is shown, and the history brings the sentence back.
    edit(items(ben).nth(2), note="Must not be lost")
    items(ana).nth(2).get_by_role("button", name="Remove").click()
    expect(items(ana)).to_have_count(2)
    save(items(ben).nth(2))
    expect(ben.locator(".conflict")).to_contain_text("Must not be lost")
    follow(ben.get_by_role("link", name="History"))
    follow(ben.get_by_role("button", name="Restore").first)
    assert texts(ben) == [second, first, third]


@pytest.mark.slow
def test_sentences_are_dragged_highlighted_and_copied(opens: Callable[..., Page], desk: Site) -> None:
    page = opens("ana", permissions=["clipboard-read", "clipboard-write"])
    make(page, desk, "Relief, by hand")
    first, second, third = texts(page)
    items(page).nth(2).locator(".hold").drag_to(items(page).nth(0))
    expect(items(page).nth(0).locator(".found")).to_have_text(third)
    page.reload()
    assert texts(page) == [third, first, second]
    follow(page.get_by_role("link", name="by source"))
    follow(page.get_by_role("button", name="Keep this order"))
    expect(page.get_by_role("link", name="by hand", exact=True)).to_have_attribute("aria-current", "true")

    words = " ".join(texts(page)[0].split()[:2])
    edit(items(page).nth(0), note="I am in the middle of")
    page.evaluate(
        """length => { const text = document.querySelector(".item .found").firstChild;
                       getSelection().setBaseAndExtent(text, 0, text, length); }""",
        len(words),
    )
    page.get_by_role("button", name="Highlight").click()
    expect(items(page).nth(0).locator("mark")).to_have_text(words)
    expect(items(page).nth(0).locator("[name=note]")).to_have_value("I am in the middle of")

    page.locator("[name=neighbours]").select_option("yes")
    page.locator("[name=citations]").select_option("endnote")
    page.get_by_role("button", name="Copy all").click()
    expect(page.locator(".told")).to_contain_text("Copied")
    copied = page.evaluate(
        """async () => { const [item] = await navigator.clipboard.read();
                         return Object.fromEntries(await Promise.all(item.types.map(
                           async (type) => [type, await (await item.getType(type)).text()]))); }"""
    )
    assert f"<mark>{words}</mark>" in copied["text/html"] and "<blockquote" in copied["text/html"]
    assert '<span class="around">' in copied["text/html"], "as the selects say"
    assert all(text in copied["text/plain"] for text in texts(page))


@pytest.mark.slow
def test_a_dialog_says_itself_why_nothing_was_saved(opens: Callable[..., Page]) -> None:
    page = opens("ana", "/search?q=relief")
    page.locator("a.clip").first.click()
    dialog = page.locator("dialog.save-dialog")
    expect(dialog).to_be_visible()
    problem = {"error": {"message": "The dossiers cannot be written now."}}
    page.route("**/save", lambda route: route.fulfill(status=503, json=problem))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("status")).to_have_text(problem["error"]["message"])


def test_a_double_click_saves_once(opens: Callable[..., Page], desk: Site) -> None:
    page = opens("ben", "/search?q=emergency+relief+drought+food")
    page.locator("a.clip").first.evaluate("link => { link.click(); link.click(); }")
    page.get_by_label("Name of the new dossier").fill("Twice")
    page.wait_for_load_state("networkidle")
    assert page.locator("dialog.save-dialog").count() == 1
    page.locator(".save-to").evaluate("form => { form.requestSubmit(); form.requestSubmit(); }")
    expect(page.locator(".told")).to_contain_text("Twice")
    page.goto(desk.url("/dossiers"))
    assert page.get_by_role("link", name="Twice").count() == 1


def test_clippings_of_the_browser_move_into_a_dossier(opens: Callable[..., Page], desk: Site) -> None:
    page = opens("ana")
    clipping = {
        "sentence_id": "x.s1",
        "document_id": "x",
        "text": "Kept before.",
        "note": "mine",
        "tags": ["old"],
    }
    page.evaluate("text => localStorage.setItem('esr.clippings', text)", json.dumps([clipping]))
    page.reload()
    expect(page.locator(".clippings-offer")).to_contain_text("This browser has 1 clipping.")
    follow(page.get_by_role("button", name="Move"))
    expect(items(page).locator(".found")).to_have_text("Kept before.")
    expect(items(page).locator(".memo")).to_contain_text("mine")
    assert page.evaluate("localStorage.getItem('esr.clippings')") == "[]"


@pytest.mark.slow
def test_without_scripts_everything_works_by_forms(opens: Callable[..., Page], desk: Site) -> None:
    page = opens("ben", "/search?q=emergency+relief+drought+food", java_script_enabled=False)
    follow(page.locator("a.clip").first)
    page.get_by_label("Name of the new dossier").fill("By forms")
    page.get_by_label("A new one").check()
    follow(page.get_by_role("button", name="Save"))
    page.goto(desk.url("/search?q=emergency+relief+drought+food"))
    follow(page.locator("a.clip").nth(1))
    page.get_by_label("By forms").check()
    follow(page.get_by_role("button", name="Save"))
    first, second = texts(page)
    follow(items(page).nth(1).get_by_role("button", name="Up"))
    assert texts(page) == [second, first]
    word = second.split()[1]
    edit(items(page).nth(0), note="A note", tags="one, two", judgement="1", marks=word)
    follow(items(page).nth(0).locator("form.edit .btn"))
    assert items(page).nth(0).locator(".tag").all_inner_texts() == ["one", "two"]
    assert items(page).nth(0).locator("mark").all_inner_texts() == [word]
    follow(page.locator("nav .tag", has_text="two"))
    assert texts(page) == [second]
    follow(page.locator("nav .tag", has_text="all"))
    follow(items(page).nth(0).get_by_role("button", name="Remove"))
    assert texts(page) == [first]
    page.get_by_text("Links to read").click()
    follow(page.get_by_role("button", name="Make it"))
    assert "/shared?token=" in page.locator(".notice code").inner_text()
    page.goto(page.locator(".notice code").inner_text())
    assert texts(page) == [first] and not page.get_by_role("button", name="Remove").count()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_pages_of_dossiers_are_accessible_and_fit(
    opens: Callable[..., Page], desk: Site, width: int, scheme: str
) -> None:
    page = opens("ana", viewport={"width": width, "height": 900}, color_scheme=scheme)
    path = make(page, desk, f"Relief at {width}", 2)
    edit(items(page).nth(0), note="A note", tags="a tag")
    save(items(page).nth(0))
    page.locator(".memo").wait_for()
    for address in (
        path,
        "/dossiers",
        path.replace("/dossier?", "/dossier/history?"),
        "/save?document=again",
    ):
        page.goto(desk.url(address))
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert not violations(page), address


def test_a_search_is_delivered_by_the_clock_of_the_browser(opens: Callable[..., Page]) -> None:
    page = opens("ana", "/search?q=relief", timezone_id="America/New_York")
    expect(page.locator(".saving button")).to_be_visible()
    follow(page.locator(".saving a"))
    form = page.locator("form.alert")
    expect(form.locator("[name=day], [name=time], [name=zone]").locator("visible=true")).to_have_count(0)
    form.locator("[name=when]").select_option("weekly")
    form.locator("[name=to]").fill("ana@example.org")
    follow(form.locator("[value=preview]"))
    expect(page.locator("#preview [role=status]")).to_contain_text("the last day of the collection")
    assert violations(page) == []
    expect(form.locator("[name=when]")).to_have_value("weekly")
    follow(form.locator("[value=create]"))
    expect(page.locator(".dossier-list li")).to_contain_text("weekly on Monday at 08:00 (America/New_York)")
    assert violations(page) == []
