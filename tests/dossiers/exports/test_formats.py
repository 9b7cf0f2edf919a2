"""Files of dossiers: what they show, and that no text of a dossier can change their form."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from itertools import pairwise

import msgspec
import pytest

from esr.dossiers.exports.extract import Entry, Extract, write_period
from esr.dossiers.exports.formats import COLUMNS, FORMATS
from esr.dossiers.exports.markup import write_fragment
from esr.dossiers.records import Highlight, Item
from esr.errors import UsageError
from tests.support.runs import need

READ_ON = date(2026, 11, 29)
LETTER = Item(
    id="1",
    version=1,
    added_by="ana",
    added_at="2026-11-29T10:00:00.000Z",
    document_id="cnn-1",
    sentence_id="cnn-1.s4",
    text="In all, May mentioned security 11 times in the letter.",
    title="May accused of ‘blatant threat’",
    date="2017-03-29",
    source="cnn.com",
    url="https://cnn.example/1",
    language="en",
    authors=("Angela Dewan",),
    permalink="https://esr.example/sentence?id=cnn-1&says=ab",
    note="Eleven or four?\nCount in the letter.",
    tags=("letter", "check"),
    highlights=(Highlight(31, 39),),
    judgement=2,
    changed_by="ben",
)
HOSTILE = msgspec.structs.replace(
    LETTER,
    id="2",
    document_id="x",
    sentence_id="x.s1",
    text="1. *Bold* <script>alert(1)</script> [link](javascript:alert(1)) | `code` \x0c \ud800 # =1+1",
    title="</title><img src=x> ](evil)",
    source="=HYPERLINK(1)",
    url="javascript:alert(1)",
    date="2017-03-30T08:00",
    note="# heading\n- list\n> quote &amp;",
    tags=("<b>",),
    highlights=(Highlight(3, 9), Highlight(5, 13)),
    language='en" onclick="x',
    permalink="javascript:alert(2)",
)


def extract(*items: Item, **options: object) -> Extract:
    entries = [Entry.from_item(item, READ_ON) for item in items]
    return Extract("Security *in* the <letter>", entries, **options)  # type: ignore[arg-type]


def write(name: str, *items: Item, **options: object) -> str:
    return FORMATS[name].write(extract(*items, **options)).decode()


def test_the_summary_counts_sentences_articles_sources_and_days() -> None:
    assert extract(LETTER, HOSTILE).summary == (
        "2 sentences of 2 articles from 2 sources, 29 to 30 March 2017."
    )
    whole = msgspec.structs.replace(LETTER, kind="document", sentence_id="")
    assert extract(LETTER, whole).summary.startswith("1 sentence and 1 whole article of 1 article from")
    assert extract(whole).summary == "1 whole article from 1 source, 29 March 2017."
    assert extract().summary == "0 sentences of 0 articles."
    assert write_period(date(2016, 12, 30), date(2017, 1, 2)) == "30 December 2016 to 2 January 2017"


def test_markdown_has_a_footnote_for_each_sentence_and_its_notes() -> None:
    text = write("markdown", LETTER)
    assert "> In all, May mentioned security **11 times** in the letter.[^1]" in text
    assert "[^1]: Dewan, Angela. “May accused of ‘blatant threat’.” cnn.com, March 29, 2017." in text
    assert "<https://cnn.example/1>" in text
    assert "[Link to the sentence](https://esr.example/sentence?id=cnn-1&says=ab)" in text
    assert "Eleven or four?" in text and "*Tags:* letter, check" in text and "*Judgement:* 2" in text
    assert "Eleven" not in write("markdown", LETTER, has_notes=False)


def test_no_text_of_a_dossier_is_markup_in_markdown_or_in_html() -> None:
    parser = need("markdown_it").MarkdownIt().use(need("mdit_py_plugins.footnote").footnote_plugin)
    tokens = parser.parse(write("markdown", HOSTILE))
    kinds = {child.type for token in tokens for child in token.children or ()} | {t.type for t in tokens}
    assert not kinds & {
        "html_block",
        "html_inline",
        "bullet_list_open",
        "ordered_list_open",
        "code_inline",
    }
    assert sum(token.type == "heading_open" for token in tokens) == 1
    said = "".join(c.content for t in tokens for c in t.children or () if c.type == "text")
    for text in (
        "*Bold*",
        "<script>alert(1)</script>",
        "[link](javascript:alert(1))",
        "`code`",
        "- list",
        "# heading",
    ):
        assert text in said
    emphasised = [e.content for t in tokens for c, e in pairwise(t.children or ()) if c.type == "em_open"]
    assert emphasised == ["Last changed by:", "Tags:", "Judgement:"]
    links = [c.attrs["href"] for t in tokens for c in t.children or () if c.type == "link_open"]
    assert not links

    lxml = need("lxml.html")
    page = lxml.fromstring(write("html", HOSTILE, LETTER))
    assert not page.xpath("//script | //img | //@onclick")
    assert {a.get("href").partition(":")[0] for a in page.iter("a")} == {"https"}
    assert [mark.text for mark in page.iter("mark")] == ["*Bold* <sc", "11 times"]
    assert page.findtext(".//title") == "Security *in* the <letter>"


def test_the_rich_text_of_a_clipboard_has_no_head_and_the_same_sentences() -> None:
    fragment = write_fragment(extract(LETTER))
    assert fragment.startswith("<h1>") and "<style" not in fragment
    assert '<blockquote lang="en" dir="ltr">In all, May mentioned security <mark>11 times</mark>' in fragment


def test_plain_text_is_numbered_and_has_the_permanent_link() -> None:
    lines = write("text", LETTER, HOSTILE).splitlines()
    assert lines[3] == "1. In all, May mentioned security 11 times in the letter."
    assert lines[5] == "   https://esr.example/sentence?id=cnn-1&says=ab"
    assert any(line.startswith("2. 1. *Bold*") for line in lines)


@pytest.mark.parametrize(
    ("style", "start"),
    [("apa", "Dewan, A. (2017, March 29)."), ("mla", "Dewan, Angela. “May"), ("chicago", "Dewan, Angela.")],
)
def test_the_citations_have_the_chosen_style(style: str, start: str) -> None:
    assert f"   {start}" in write("text", LETTER, style=style)
    with pytest.raises(UsageError, match="unknown style"):
        extract(style="harvard")


def test_tables_and_citations_have_notes_tags_and_judgements() -> None:
    table = list(csv.DictReader(io.StringIO(write("csv", LETTER, HOSTILE).removeprefix("\ufeff"))))
    assert tuple(table[0]) == COLUMNS
    assert (table[0]["place"], table[0]["tags"], table[0]["judgement"]) == ("1", "letter; check", "2")
    assert table[1]["source"] == "'=HYPERLINK(1)" and table[1]["url"] == ""
    (item,) = json.loads(write("csl", LETTER))
    assert (item["note"], item["keyword"]) == ("Eleven or four?\nCount in the letter.", "letter, check")
    assert "keywords = {letter, check}" in write("bibtex", LETTER)
    assert "note" not in json.loads(write("csl", LETTER, has_notes=False))[0]


@pytest.mark.parametrize("format", ["markdown", "text", "html", "word"])
def test_documents_have_a_sentence_between_its_neighbours_which_are_marked(format: str) -> None:
    entry = Entry.from_item(LETTER, READ_ON)._replace(before="She wrote <it>.", after="Others wrote four.")
    content = FORMATS[format].write(Extract("Letters", [entry]))
    if format == "word":
        document = need("docx").Document(io.BytesIO(content))
        (line,) = (p for p in document.paragraphs if "Others" in p.text)
        text = line.text
        assert [bool(run.font.color.rgb) for run in line.runs if run.text.strip()] == [
            True,
            False,
            False,
            False,
            True,
        ]
    else:
        text = content.decode()
    before, sentence, after = {
        "markdown": ("*She wrote \\<it\\>.*", "In all", "*Others wrote four.*"),
        "text": ("[She wrote <it>.]", "In all", "[Others wrote four.]"),
        "html": (
            '<span class="around">She wrote &lt;it&gt;.</span>',
            "In all",
            '<span class="around">Others wrote four.</span>',
        ),
        "word": ("She wrote <it>.", "In all", "Others wrote four."),
    }[format]
    assert -1 < text.find(before) < text.find(sentence) < text.find(after)


@pytest.mark.parametrize("style", ["chicago", "apa", "mla"])
def test_what_follows_a_text_from_right_to_left_stays_behind_it(style: str) -> None:
    arabic = msgspec.structs.replace(LETTER, title="فيضان “النهر”", source="الأخبار", authors=("علي حسن",))
    mark, text = "\u200e", write("text", arabic, style=style)
    for at in ("النهر”", "النهر’", "الأخبار"):
        assert text.count(at) == text.count(at + mark)
    assert f"الأخبار{mark} · 29 March 2017" in write("markdown", arabic)
    assert mark not in write("text", LETTER, style=style) + write("bibtex", arabic)
