"""Take the pictures of the page's states: `python -m tools.page_states [FOLDER]`.

Each state is a search of a small collection that is made here. It is taken at three widths, in light and dark
colours, and written to docs/pictures/states or to FOLDER, as STATE-WIDTH.webp and STATE-WIDTH-dark.webp.
Fonts for Arabic and Chinese must be installed, such as Noto Naskh Arabic and Noto Serif CJK.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import esr
from esr.ranking.searcher import open_searcher
from tools.page_images import ROOT, SIZES, VIEW_QUALITY, Picture, launch, serve, take
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

UNREACHABLE = "http://127.0.0.1:9/archive"
"""An address at which no engine answers."""

STATES = {
    "empty": "/search?q=zeppelin+harbour&require=all",
    "one": "/search?q=lighthouse&require=all",
    "many": "/search?q=harbour+strike",
    "long": "/search?q=dredging+conservancy",
    "arabic": "/search?q=إضراب+الميناء",
    "chinese": "/search?q=港口罢工",
    "failing": "/search?q=harbour+strike&index=archive",
}
"""The addresses of states by name."""

# The collection

HARBOUR = (
    "Dock workers at the harbour of {} began a strike at midnight after talks on pay had failed.",
    "Three container ships waited outside the harbour because no pilots were on duty.",
    "The strike has closed every terminal of the harbour but the one for passengers.",
    "A spokeswoman for the harbour company called the strike a threat to winter supplies.",
    "Lorries stood for nine kilometres before the gates of the harbour.",
    "The union wants a rise of seven per cent, and more crane drivers for the night.",
    "Fruit from the south is spoiling in the sheds, an importer in {} said.",
    "The mayor of {} offered to mediate between the union and the owners of the harbour.",
    "Fishing boats may still land their catch, since their crews have not joined the strike.",
    "Insurers expect claims of forty million if the harbour stays closed for a week.",
    "Both sides will meet again on Monday, when the labour court hears the case.",
    "Railways carry a part of the freight to {}, but their wagons are booked out until spring.",
)
CITIES = ("Avonport", "Brightsea", "Calder Bay", "Dunmouth", "Eastwick", "Farrow")
SOURCES = (
    "Northern Wire",
    "Evening Post",
    "Harbour Gazette",
    "The Daily Ledger",
    "Coast Radio",
    "Island Times",
)
AUTHORS = ("Ida Brand", "Tomas Weil", "Nora Quist", "Leo Marsh")
LONG = (
    "The dredging of the outer channel, which the conservancy had postponed in four successive years "
    "because of the price of fuel, the lack of a licence for the disposal of mud, a dispute with the "
    "neighbouring county about the beds of oysters that its inhabitants have farmed since the days "
    "of their grandparents, and the loss of its only suction dredger in a storm off the northern "
    "skerries, will begin in the first week of May, provided that the weather, the bank, the "
    "ministry of the environment and the owners of the two islands on which the pipes must rest "
    "agree, as the harbour master told a meeting of four hundred shipowners, fishermen and hoteliers "
    "that lasted until long after midnight."
)
ARABIC = (
    (
        "إضراب عمال الميناء يدخل أسبوعه الثاني",
        "بدأ عمال الميناء إضرابا مفتوحا بعد فشل المفاوضات على الأجور.",
        "تنتظر ثلاث سفن حاويات خارج الميناء منذ يوم السبت.",
        "وقالت النقابة إن الإضراب سيستمر حتى تستجيب الشركة لمطالبها.",
    ),
    (
        "أسعار الفاكهة ترتفع في الأسواق",
        "ارتفعت أسعار الفاكهة بسبب إضراب الميناء كما قال تجار في السوق المركزية.",
        "ويخشى المستوردون أن تفسد البضائع في المخازن.",
    ),
    (
        "رئيس البلدية يعرض الوساطة",
        "عرض رئيس البلدية الوساطة بين النقابة وإدارة الميناء لإنهاء الإضراب.",
        "ومن المقرر أن يجتمع الطرفان يوم الاثنين.",
    ),
)
CHINESE = (
    (
        "港口罢工进入第二周",
        "由于工资谈判破裂,港口工人从午夜开始罢工。",
        "三艘集装箱船自星期六起在港口外等候。",
        "工会表示,在公司答应要求之前,罢工将继续进行。",
    ),
    ("水果价格上涨", "中央市场的商人说,港口罢工使水果价格上涨了两成。", "进口商担心仓库里的货物会变质。"),
    ("市长提出调解", "市长提出在工会和港口公司之间进行调解,以结束罢工。", "双方将于星期一再次会面。"),
)


def articles() -> Iterator[dict[str, Any]]:
    """The documents of all states."""
    for n in range(len(HARBOUR) * 2):
        city = CITIES[n % len(CITIES)]
        yield {
            "id": f"harbour-{n}",
            "title": f"{city}: {('the harbour stands still', 'talks on pay fail', 'ships must wait')[n % 3]}",
            "date": f"2025-{1 + n // 3:02}-{1 + 5 * n % 27:02}",
            "source": SOURCES[n * n % 7 % len(SOURCES)],
            "authors": [AUTHORS[n % len(AUTHORS)]],
            "section": ("Economy", "Coast", "Politics")[n % 3],
            "language": "en",
            "url": f"https://news.example/{n}",
            "sentences": [HARBOUR[(5 * n + step) % len(HARBOUR)].format(city) for step in (0, 1, 4)],
        }
    yield {
        "id": "keeper",
        "title": "The last keeper leaves",
        "date": "2025-06-02",
        "source": "Coast Radio",
        "language": "en",
        "sentences": [
            "Nobody has lived on the rock since the spring.",
            "Its lighthouse has been switched from the mainland since Tuesday.",
            "The lamp itself is a hundred years old.",
        ],
    }
    yield {
        "id": "channel",
        "title": "What four hundred shipowners, fishermen and hoteliers heard about the outer channel, its "
        "mud, its oysters and the bill that nobody wants to pay before the elections",
        "date": "2025-04-11",
        "source": "Quarterly Bulletin of the Royal Society for the Preservation of Harbours and Estuaries",
        "authors": [
            "Maximiliane von Hohenstein-Wartenburg",
            "Bartholomew Featherstonehaugh",
            "Nora Quist",
            "Leo Marsh",
        ],
        "language": "en",
        "url": "https://bulletin.example/channel",
        "sentences": [
            "The meeting had been announced for seven o'clock in the old customs house.",
            LONG,
            f"The plans of the dredging are at https://conservancy.example/{'outer-channel/' * 9}plans.pdf.",
            "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft was not asked.",
        ],
    }
    for language, texts in (("ar", ARABIC), ("zh", CHINESE)):
        for n, (title, *sentences) in enumerate(texts):
            yield {
                "id": f"{language}-{n}",
                "title": title,
                "date": f"2025-03-{10 + n}",
                "source": {"ar": "صحيفة الساحل", "zh": "海岸日报"}[language],
                "language": language,
                "url": f"https://{language}.example/{n}",
                "sentences": sentences,
            }


def main(arguments: list[str]) -> None:
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    folder = Path(arguments[0] if arguments else ROOT / "docs" / "pictures" / "states")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        where = str(Path(temporary) / "index")
        esr.create(where, articles(), analyzer="multilingual").close()
        openers = {"news": lambda: open_searcher(where), "archive": lambda: open_searcher(UNREACHABLE)}
        indexes = ServedIndexes(openers, Settings())
        with serve(indexes) as address, sync_playwright() as playwright:
            browser = launch(playwright)
            for state, path in STATES.items():
                for width, height in SIZES:
                    picture = Picture(f"{state}-{width}", path, width, height)
                    take(browser, address, picture, folder, VIEW_QUALITY)
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
