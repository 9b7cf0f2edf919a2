"""Take the pictures of the tour: `python -m tools.tour [WHERE] [FOLDER]`.

WHERE is an index of the example news with quotations and copies: by default that of `make demo`. The pictures
are written to docs/pictures/tour, or to FOLDER. docs/tour.md shows them in this order.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from esr.ranking.searcher import open_searcher
from tools.page_images import (
    CLAIM,
    PASTED,
    QUERY,
    ROOT,
    SECURITY,
    Picture,
    ask_to_save,
    follow,
    launch,
    open_dossier,
    serve_people,
    take,
)

QUALITY = 55
MOST_BYTES = 100_000
"""The size of a picture."""
NARROWED = '/search?q="travel+ban"+court&after=2017-03'
STEPS = (
    Picture("search", QUERY, 1280, 720),
    Picture("read", QUERY, 1280, 760, prepare=follow("open")),
    Picture("why", QUERY, 1280, 900, prepare=follow("why")),
    Picture("narrow", NARROWED, 1280, 720),
    Picture("over-time", "/timeline?q=travel+ban", 1280, 720),
    Picture("who-said-it", "/quotes?q=travel+ban", 1280, 720),
    Picture("check", f"/check?text={PASTED}", 1280, 860),
    Picture("evidence", f"/evidence?q={CLAIM}", 1280, 680),
    Picture("save", SECURITY, 1280, 720, prepare=ask_to_save),
    Picture("dossier", "/dossiers", 1280, 860, prepare=open_dossier),
)


def main(arguments: list[str]) -> None:
    if len(arguments) > 2 or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    defaults = str(ROOT / ".demo" / "index"), str(ROOT / "docs" / "pictures" / "tour")
    where, folder = *arguments, *defaults[len(arguments) :]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with (
        open_searcher(where) as searcher,
        serve_people(searcher) as address,
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        for step in STEPS:
            take(browser, address, step._replace(person="ana"), Path(folder), QUALITY, {"": False})
            size = (Path(folder) / f"{step.name}.webp").stat().st_size
            print(f"{step.name}: {size:,} bytes")
            if size > MOST_BYTES:
                sys.exit(f"{step.name} has more than {MOST_BYTES:,} bytes: make it smaller")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
