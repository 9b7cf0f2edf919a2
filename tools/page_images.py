"""Take the pictures of the page: `python -m tools.page_images [WHERE] [FOLDER]`.

WHERE is an index of the example news with names and quotations: by default that of `make demo`, once its
enrichment has ended. Each picture is taken in light and, as NAME-dark, in dark colours, and written to
docs/pictures or to FOLDER. Each view is also taken at three widths, as views/VIEW-WIDTH, for
docs/page-states.md.
"""

from __future__ import annotations

import io
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, ViewportSize, sync_playwright
from werkzeug.serving import WSGIRequestHandler, make_server

from esr.access.grants import Grant, changing
from esr.ranking.searcher import Searcher, open_searcher
from webui.app import create_app
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
QUERY = "/search?q=trump+travel+ban+court"
CLAIM = "Michael+Flynn+did+not+discuss+sanctions+with+the+Russian+ambassador"
COMPARED = QUERY.replace("search", "compare") + "&vs.model=bm25"
SECURITY = "/search?q=May+Brexit+letter+security"
PASTED = (
    "Theresa May told the Commons that this was “an historic moment from which there can be no turning "
    "back”. Her letter warned that “a failure to reach an agreement would mean our cooperation in the fight "
    "against crime and terror would be weakened”. Britain, she added, “will not pay to leave”."
)
QUALITY = 80
"""The quality of WebP. Letters are as sharp as in a PNG of four times the size."""


def follow(name: str) -> Callable[[Page], object]:
    """A function that follows the first link of a class."""
    return lambda page: page.goto(page.locator(f"a.{name}").first.evaluate("link => link.href"))


def open_article(page: Page) -> None:
    page.locator("#hit-2 a.open").first.click()
    page.locator(".reader .at").wait_for()


def save(page: Page) -> None:
    """Save the search and three sentences, and open the page of saved ones."""
    page.get_by_role("button", name="Save this search").click()
    for n in (1, 2, 3):
        page.locator(f"#hit-{n} article").hover()
        page.locator(f"#hit-{n} .clip").click()
        page.locator(f"#hit-{n} .clip", has_text="Saved").wait_for()
    page.locator(".told a").click()
    page.get_by_label("Note").first.fill("Ask the court for the ruling")
    page.get_by_label("Tags").first.fill("court, ban")


def show_statements(page: Page) -> None:
    page.locator("#over-time").evaluate("heading => scrollTo(0, heading.offsetTop - 80)")


def judge(page: Page) -> None:
    page.get_by_role("button", name="Judge").click()
    for key in "10":
        page.keyboard.press(key)


DOSSIER = "Security in the Article 50 letter"


def open_dossier(page: Page) -> None:
    """Open the dossier, which is made of what a search finds if it is not there yet."""
    if page.get_by_role("link", name=DOSSIER).count():
        page.locator(".dossier-list a").first.click()
        page.locator(".memo").first.wait_for()
        return
    for n in range(4):
        page.goto(page.url.partition("/dossiers")[0].partition("/search")[0] + SECURITY)
        page.locator("a.clip").nth(n).click()
        dialog = page.locator("dialog.save-dialog")
        if not n:
            dialog.get_by_label("Name of the new dossier").fill(DOSSIER)
        dialog.get_by_role("button", name="Save").click()
        page.locator(".told a").wait_for()
    page.locator(".told a").click()
    notes = ("Open with this. Which other papers have it?", "Count in the letter itself.")
    for item, (note, tags, judgement) in enumerate(
        zip(notes, ("letter", "letter, check"), "21", strict=True)
    ):
        form = page.locator(".item").nth(item).locator("form.edit")
        page.locator(".item").nth(item).locator(".editing > summary").click()
        form.locator("[name=note]").fill(note)
        form.locator("[name=tags]").fill(tags)
        form.locator("[name=judgement]").fill(judgement)
        words = page.locator(".item").nth(item).locator(".found").inner_text().split()
        form.locator("[name=marks]").fill(" ".join(words[2:5]))
        form.locator(".btn").click()
        page.locator(".item").nth(item).locator(".memo").wait_for()
    page.get_by_text("Invite", exact=True).click()
    page.locator("#with").fill("ben")
    page.locator("#role").select_option("writer")
    page.get_by_role("button", name="Share").click()
    page.locator(".people", has_text="ben").wait_for()
    page.goto(page.url.partition("&told")[0])


def ask_to_save(page: Page) -> None:
    page.locator("a.clip").nth(1).click()
    page.locator("dialog.save-dialog").wait_for()


def preview_alert(page: Page) -> None:
    """Make the form one of an alert by meaning, and choose a least similarity by its preview."""
    form = page.locator("form.alert")
    form.locator("[name=q]").fill("")
    form.locator("[name=like]").fill("A court has blocked the travel ban.")
    form.locator("[name=to]").fill("ana@example.org")
    form.locator("[name=when]").select_option("daily")
    form.locator("[value=preview]").click()
    page.locator(".levels button").nth(-4).click()
    page.locator(".levels [aria-current]").wait_for()
    page.evaluate("scrollTo(0, 0)")


class Picture(NamedTuple):
    """The address of a page, a width and a height in pixels, and the actions before its picture is taken.

    `person` is who has logged in.
    """

    name: str
    path: str
    width: int
    height: int
    prepare: Callable[[Page], object] | None = None
    person: str = ""


PICTURES = (
    Picture("page-results", QUERY, 1280, 800),
    Picture("page-home", "/", 1280, 860),
    Picture("page-query", '/search?q="white house" press -sean the', 1280, 620),
    Picture("page-reading", QUERY, 1520, 860, prepare=open_article),
    Picture("page-document", QUERY, 1280, 760, prepare=follow("open")),
    Picture("page-explain", QUERY, 1280, 1100, prepare=follow("why")),
    Picture("page-compare", COMPARED, 1280, 760),
    Picture("page-saved", QUERY, 1280, 760, prepare=save),
    Picture("page-judging", COMPARED, 1280, 560, prepare=judge),
    Picture("page-concordance", "/concordance?q=travel+ban", 1280, 620),
    Picture("page-names", "/names?q=travel+ban", 1280, 700),
    Picture("page-name", "/name?name=person:Michael+Flynn", 1280, 820),
    Picture("page-quotations", "/quotes?q=travel+ban", 1280, 760),
    Picture("page-check", f"/check?text={PASTED}", 1280, 1620),
    Picture("page-evidence", f"/evidence?q={CLAIM}", 1280, 900),
    Picture(
        "page-over-time",
        "/name?name=person:Sean+Spicer&about=surveillance",
        1280,
        900,
        prepare=show_statements,
    ),
    Picture("page-comparison", "/contrast?q=travel+ban&part=before:2017-03&against=after:2017-03", 1280, 560),
    Picture("page-phone", QUERY, 390, 844),
)


DOSSIER_PICTURES = (
    Picture("page-dossier", "/dossiers", 1280, 900, prepare=open_dossier, person="ana"),
    Picture("page-alert", QUERY.replace("search", "alerts"), 1280, 860, prepare=preview_alert, person="ana"),
    Picture("page-save", SECURITY, 1280, 760, prepare=ask_to_save, person="ana"),
)
"""Pictures of pages for those who have logged in."""
NAME_HEADER = "X-Person"
COLOURS = {"": False, "-dark": True}
"""By the ending of a picture's name, whether its colours are dark."""


VIEWS: Mapping[str, tuple[str, Callable[[Page], object] | None]] = {
    "home": ("/", None),
    "sentences": (QUERY, None),
    "documents": (f"{QUERY}&group=document", None),
    "timeline": ("/timeline?q=travel+ban", None),
    "concordance": ("/concordance?q=travel+ban", None),
    "names": ("/names?q=travel+ban", None),
    "name": ("/name?name=person:Michael+Flynn", None),
    "quotations": ("/quotes?q=travel+ban", None),
    "words": ("/collocations?q=ban", None),
    "parts": ("/contrast?q=travel+ban&part=before:2017-03&against=after:2017-03", None),
    "article": (QUERY, follow("open")),
    "rankings": (COMPARED, None),
}
"""The views of the page: their addresses, and the actions before their pictures are taken."""
SIZES = ((1920, 900), (1280, 900), (390, 844))
VIEW_QUALITY = 45


class Quiet(WSGIRequestHandler):
    def log(self, *args: object, **kwargs: object) -> None: ...


@contextmanager
def serve(served: Searcher | ServedIndexes, settings: Settings | None = None) -> Iterator[str]:
    """The address of a server over an index, or over several."""
    app = create_app(served, settings or Settings(access_log=0))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@contextmanager
def serve_people(served: Searcher | ServedIndexes) -> Iterator[str]:
    """The address of a server with a desk, which believes the name of a person in a header."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "access")
        with changing(file) as grants:
            grants["ana"] = Grant("ana", "elsewhere")
        settings = Settings(
            access=str(file),
            user_header=NAME_HEADER,
            user_header_from="127.0.0.1",
            desk=str(Path(folder, "desk")),
            alert_to="mailto:*@example.org",
            access_log=0,
        )
        with serve(served, settings) as address:
            yield address


def launch(playwright: Playwright) -> Browser:
    """The Chromium of the system, or that of Playwright."""
    own = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    return playwright.chromium.launch(executable_path=own, args=["--no-sandbox"])


def take(
    browser: Browser,
    address: str,
    picture: Picture,
    folder: Path,
    quality: int = QUALITY,
    colours: Mapping[str, bool] = COLOURS,
) -> None:
    """Write a picture in light, and in dark as NAME-dark."""
    for ending, is_dark in colours.items():
        size: ViewportSize = {"width": picture.width, "height": picture.height}
        context = browser.new_context(
            viewport=size,
            color_scheme="dark" if is_dark else "light",
            extra_http_headers={NAME_HEADER: picture.person} if picture.person else {},
        )
        page = context.new_page()
        for _ in range(2):  # the first search fills the caches
            page.goto(address + picture.path)
        if picture.prepare is not None:
            picture.prepare(page)
        image = Image.open(io.BytesIO(page.screenshot()))
        image.save(folder / f"{picture.name}{ending}.webp", quality=quality, method=6)
        context.close()


def main(arguments: list[str]) -> None:
    if len(arguments) > 2 or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    defaults = str(ROOT / ".demo" / "index"), str(ROOT / "docs" / "pictures")
    where, folder = *arguments, *defaults[len(arguments) :]
    with open_searcher(where) as searcher, serve(searcher) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        for picture in PICTURES:
            take(browser, address, picture, Path(folder))
        with serve_people(searcher) as people:
            for picture in DOSSIER_PICTURES:
                take(browser, people, picture, Path(folder))
        views = Path(folder, "views")
        views.mkdir(parents=True, exist_ok=True)
        for view, (path, prepare) in VIEWS.items():
            for width, height in SIZES:
                picture = Picture(f"{view}-{width}", path, width, height, prepare)
                take(browser, address, picture, views, VIEW_QUALITY)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
