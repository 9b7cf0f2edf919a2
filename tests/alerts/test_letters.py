"""What a letter says of its sentences and days, as a text, as HTML and as JSON."""

from __future__ import annotations

import json
import re
from html import unescape

from esr.alerts.letters import write_letter
from esr.following.alerts.atom import text_digest

PLAIN = {"document_id": "d 1", "text": "Rain & snow.", "date": "2017-03-01T10:00:00Z", "source": "RTE"}
DAY = {"day": "2017-03-01", "count": 1_234, "usual": 5.25, "limit": 12.5}


def test_a_sentence_has_its_place_and_the_address_of_its_page() -> None:
    linked = {**PLAIN, "title": "May", "url": "https://e.example/c", "language": "en"}
    letter = write_letter("7", "s", "Storms", [PLAIN, linked], page="https://esr.example/news/", index="a b")
    address = f"https://esr.example/news/sentence?id=d+1&says={text_digest(PLAIN['text'])}&index=a+b"
    assert letter.subject == "Storms: 2 new sentences"
    assert letter.text == (
        "Storms: 2 new sentences\n\n"
        f"> Rain & snow.\n  RTE · 2017-03-01\n  {address}\n\n"
        f"> Rain & snow.\n  May · RTE · 2017-03-01\n  {address}\n"
    )
    assert f'<a href="{address.replace("&", "&amp;")}">May · RTE · 2017-03-01</a>' in letter.html
    assert letter.html.count("<blockquote") == 2 and letter.html.count(' lang="en"') == 1
    payload = json.loads(letter.payload)
    assert (payload["version"], payload["id"], letter.attempt) == (1, "7", 1)
    assert [item["permalink"] for item in payload["items"]] == [address] * 2


def test_without_a_page_the_address_is_that_of_the_source() -> None:
    linked = {"document_id": "d", "text": "Rain.", "url": "https://e.example/c"}
    letter = write_letter("7", "s", "Storms", [linked, {"document_id": "d", "text": "Snow."}])
    assert letter.text == "Storms: 2 new sentences\n\n> Rain.\n  https://e.example/c\n\n> Snow.\n"
    assert '<a href="https://e.example/c">source</a>' in letter.html and "<small dir" in letter.html
    assert "permalink" not in letter.payload.decode()
    assert "index=" not in write_letter("7", "s", "x", [linked], page="https://esr.example").text


def test_unusual_days_are_told_with_sentences_of_theirs() -> None:
    day = {"unusual": DAY, "hits": [PLAIN, {**PLAIN, "previous": "Before.", "next": "After."}]}
    letter = write_letter("7", "s", "Storms", [day], page="https://esr.example")
    assert letter.subject == "Storms: more than usual on 2017-03-01"
    assert "\n\n2017-03-01: 1,234 sentences, usually 5.2\n\n> Rain & snow.\n" in letter.text
    assert "  … Before.\n> Rain & snow.\n  After. …\n" in letter.text
    assert "<h2>2017-03-01: 1,234 sentences, usually 5.2</h2><blockquote" in letter.html
    (item,) = json.loads(letter.payload)["items"]
    assert item["unusual"] == DAY and all("permalink" in hit for hit in item["hits"])
    assert write_letter("7", "s", "Storms", [day, day]).subject == "Storms: more than usual on 2 days"


def test_half_of_a_character_is_no_obstacle() -> None:
    odd = {"document_id": "\ud83d", "text": "Rain \ud83d."}
    letter = write_letter("7", "s", "Storms", [odd], page="https://esr.example")
    assert json.loads(letter.payload)["items"][0]["text"] == "Rain ?."


def test_the_text_and_the_html_say_the_same_of_a_sentence() -> None:
    hit = {**PLAIN, "title": "May", "url": "https://e.example/c", "previous": "Before.", "next": "After."}
    letter = write_letter("7", "s", "Storms", [{"unusual": DAY, "hits": [hit]}])
    html = unescape(re.sub('<a href="(.*?)">(.*?)</a>', r"\2 \1", letter.html))
    shown = re.sub("[…>]", " ", letter.text.replace("Storms: ", "Storms ")).split()
    assert re.sub("<.*?>", " ", html).split() == shown
    assert {"Before.", "After.", "May", "RTE", "1,234", "https://e.example/c"} <= set(shown)
