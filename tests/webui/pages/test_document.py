"""The page of a document, in its paragraphs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from esr.ranking.searcher import open_searcher
from esr.text.document import Sentence
from tests.support.folder_index import document, load
from webui.app import create_app
from webui.running.settings import Settings

STORM = [("It blew.", 0), ("The storms came.", 0), ("Nobody slept.", 1)]


def paragraphs(where: Path, sentences: list[tuple[str, int | None]], query: str = "storms") -> list[str]:
    """The paragraphs of a document's page: `#n` is where a sentence begins, `best` the best one."""
    built = (Sentence(f"a.s{n}", text, paragraph=number) for n, (text, number) in enumerate(sentences))
    load(where, [document("a", *built)])
    with open_searcher(str(where)) as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        html = client.get(f"/document?id=a&q={query}").text
    article = html[html.rindex("</header>") : html.index("</article>")]
    found = re.findall(r"<p\b.*?</p>", article, re.DOTALL)
    marked = [re.sub(r'<[^>]*id="s(\d)" class="[^"]*?(best)?"[^>]*>', r"#\1\2 ", part) for part in found]
    plain = [re.sub(r'<a class="why".*?</a>|<[^>]*>', "", part) for part in marked]
    return [" ".join(part.split()) for part in plain]


def test_the_sentences_of_a_paragraph_stand_in_one(tmp_path: Path) -> None:
    assert paragraphs(tmp_path / "i", STORM) == [
        "#0 It blew. #1best The storms came.",
        "#2 Nobody slept.",
    ]


def test_a_sentence_whose_paragraph_is_unknown_is_one(tmp_path: Path) -> None:
    unknown = [(text, None) for text, _ in STORM]
    assert paragraphs(tmp_path / "i", unknown) == [
        "#0 It blew.",
        "#1best The storms came.",
        "#2 Nobody slept.",
    ]


@pytest.mark.parametrize("number", [1, 7])
def test_paragraphs_of_the_same_number_that_are_apart_are_two(tmp_path: Path, number: int) -> None:
    assert paragraphs(tmp_path / "i", [("A.", number), ("B.", 0), ("C.", number)], "") == [
        "#0 A.",
        "#1 B.",
        "#2 C.",
    ]


def test_no_blank_stands_between_sentences_of_scripts_that_have_none(tmp_path: Path) -> None:
    assert paragraphs(tmp_path / "i", [("他走了。", 0), ("她來了。", 0)], "") == ["#0 他走了。#1 她來了。"]


def test_what_is_known_of_a_document_is_shown(tmp_path: Path) -> None:
    known: dict[str, Any] = {
        "authors": ("Jane <Doe>", "Jo Roe"),
        "section": "Sport",
        "keywords": ("ferry", "sea"),
        "metadata": {"desk": {"city": ["Berlin", "Bonn"]}, "rank": 3},
    }
    load(tmp_path / "i", [document("a", Sentence("a.s0", "The storms came."), **known)])
    with open_searcher(str(tmp_path / "i")) as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        pages = [client.get(f"/{page}&q=storms").text for page in ("document?id=a", "search?")]
    of_document, of_hits = (" ".join(re.sub(r"<[^>]*>", " ", page).split()) for page in pages)
    for page in (of_document, of_hits):
        assert "Sport by Jane &lt;Doe&gt; , Jo Roe" in page
    assert "ferry sea" in of_document
    assert "desk.city Berlin , Bonn rank 3" in of_document


def test_a_hit_of_a_recording_says_when_and_one_of_a_file_on_which_page(tmp_path: Path) -> None:
    sentences = (("The storms came.", {"second": 754.2}), ("Storms went.", {"page": 3.0}), ("No storms.", {}))
    known = [Sentence(f"a.s{n}", text, features=places) for n, (text, places) in enumerate(sentences)]
    load(tmp_path / "i", [document("a", *known)])
    with open_searcher(str(tmp_path / "i")) as searcher:
        page = (
            create_app(searcher, Settings(access_log=0))
            .test_client()
            .get("/search?q=storms&passages=no")
            .text
        )
    assert sorted(re.findall(r'class="spot">([^<]*)<', page)) == ["12:34", "page 3"]
