"""The sample is a page with the parts that pages of news have: menus, advertisements, comments."""

import gzip
import json
import logging

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, markup, read_documents
from esr.loaders.adapter import LanguageDetector
from esr.loaders.html_tree import NoArticle, html_to_text
from tests.loaders.conftest import texts
from tests.support.samples import sample

PAGE = sample("html")


def test_a_page_gives_its_article_without_the_rest_of_the_page(load):
    (page,) = load(PAGE, "html")
    assert (page.id, page.title, page.date) == ("stdin", "Ferry back in service", "2024-01-15")
    assert (page.source, page.url, page.language) == ("The Example", "http://news.example/ferry", "en-GB")
    text = " ".join(texts(page))
    assert "sails again after repairs" in text and "as the café opened" in text and "the town said." in text
    for boilerplate in ("Home", "recipes", "First!", "Cookies"):
        assert boilerplate not in text


def test_the_page_declares_its_encoding(load):
    western = PAGE.replace(b"utf-8", b"iso-8859-1").decode().encode("latin-1")
    assert texts(load(western, "html")[0]) == texts(load(PAGE, "html")[0])


def test_a_page_without_text_is_malformed(load_error):
    page = "<html><head><title>A picture</title></head><body><img src='a.jpg'></body></html>"
    assert "no text of an article" in load_error(page, "html")
    for data in ("<!-- nothing -->", "<p>", "no markup"):
        assert load_error(data, "html").endswith(": the page contains no text of an article: leave it out")


def test_a_page_is_recognised_by_its_contents_if_it_was_named_or_is_said_to_be_text(load, tmp_path):
    (page,) = load(PAGE)
    assert page.title == load(PAGE, "html")[0].title
    (tmp_path / "news.txt").write_bytes(PAGE)
    (tmp_path / "index.php").write_bytes(PAGE)
    (of_a_folder,) = [located.document for located in read_documents([str(tmp_path)])]
    assert of_a_folder.id.endswith("/news") and texts(of_a_folder) == texts(page)
    assert len(list(read_documents([str(tmp_path)], "html"))) == 2


@pytest.mark.parametrize(
    ("byline", "author"),
    [
        ("Jane Doe March 11, 2015", "Jane Doe"),
        ("Jane Doe Monday, March 11, 2015", "Jane Doe"),
        ("Theresa May", "Theresa May"),
        ("Theresa May May 11, 2015", "Theresa May"),
    ],
)
def test_a_day_behind_the_author_is_no_part_of_the_name(load, byline, author):
    line = f'<p class="author">By {byline}</p>'
    text = "<p>The ferry sails again after two long weeks in the harbour, said the company on May 3.</p>" * 3
    (page,) = load(f"<html><body><article><h1>Ferry</h1>{line}{text}</article></body></html>", "html")
    assert page.authors == (author,)


def test_a_page_that_is_too_long_is_malformed(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.html_page.MAX_PAGE_BYTES", 1000)
    assert "the page is longer than" in load_error(PAGE, "html")


_TOO_MANY = "an element has more than 1,000 attributes"
_ATTRIBUTES = " ".join(f"a{number}='>'" for number in range(1_100))


def _fail(*_: object, **__: object) -> None:
    raise AssertionError("the library would take minutes")


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (f"<p {_ATTRIBUTES}>Text.</p>", "utf-8", _TOO_MANY),
        (f"<p {_ATTRIBUTES}>Text.</p>", "utf-16", _TOO_MANY),
        (f"<script>a<b</script><p b=c {_ATTRIBUTES}", "utf-8", _TOO_MANY),
        (
            f"<script/><p {_ATTRIBUTES}></p><script></script>",
            "utf-8",
            _TOO_MANY,
        ),
        (f"<script><p {_ATTRIBUTES}>", "utf-8", _TOO_MANY),
        ("<b>x</b>" * 100_001, "utf-8", "the page has more than 100,000 elements"),
    ],
    ids=[
        "attributes",
        "attributes in UTF-16",
        "attributes of an open tag",
        "attributes after an empty script",
        "attributes in an open script",
        "elements",
    ],
)
def test_a_page_that_would_take_minutes_is_malformed(load_error, monkeypatch, content, encoding, message):
    monkeypatch.setattr("trafilatura.bare_extraction", _fail)
    if "attributes" in message:
        monkeypatch.setattr("trafilatura.utils.load_html", _fail)
    page = f"<html><body>{content}</body></html>".encode(encoding)
    assert f"{message}: leave it out" in load_error(page, "html")


@pytest.mark.parametrize("tags", ["<script>{}</script>", "<STYLE>{}</STYLE>", "<!--{}-->"])
def test_code_and_comments_have_no_attributes(load, tags):
    code = tags.format("if (a<b && c) { x = 'it' } " * 1_100).encode()
    (page,) = load(PAGE.replace(b"<body>", b"<body>" + code), "html")
    assert texts(page) == texts(load(PAGE, "html")[0])


def test_an_element_with_too_many_attributes_in_a_fragment_is_malformed(load_error):
    line = {"id": "a", "text": f"<p {_ATTRIBUTES}>Text.</p>"}
    assert "an element has more than 1,000 attributes" in load_error(json.dumps(line), "json")


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ('<p><a href="/a">Boats of the north: who pays for them</a></p>', False),
        ('<h3><a href="/a">Boats of the north: who pays for them</a></h3>', False),
        ('<p>READ MORE: <a href="/a">Boats of the north: who pays for them</a></p>', False),
        ('<p><b>Lesen Sie auch: </b><a href="/a">Boats of the north: who pays for them?</a></p>', False),
        ('<p><a href="/a">Boats of the north</a> are paid for by nobody</p>', True),
        ('<p><a href="/a">Boats of the north are paid for by nobody.</a></p>', True),
        ('<p>The paper wrote: <a href="/a">“Boats of the north are free.”</a></p>', True),
        ("<h3>Boats of the north</h3>", True),
        ('<p><a href="/a">Boats of the north</a>, <a href="/b">dams of the north</a></p>', True),
    ],
)
def test_a_line_that_is_a_link_to_another_article_is_left_out(load, line, is_kept):
    (page,) = load(
        PAGE.replace(b"</article>", f"{line}<p>At noon it rained.</p></article>".encode(), 1), "html"
    )
    text = " ".join(texts(page))
    assert ("Boats of the north" in text) == is_kept
    assert "At noon it rained." in text and "sails again after repairs" in text


def test_lists_and_tables_give_their_words_without_markup(load):
    added = (
        "<ul><li>The first ferry sails at eight in the morning.</li><li>The last one sails at ten.</li></ul>"
        "<table><tr><th>Ferry</th><th>Sails</th></tr><tr><td>First</td><td>8.00</td></tr></table></article>"
    )
    (page,) = load(PAGE.replace(b"</article>", added.encode(), 1), "html")
    assert "The first ferry sails at eight in the morning." in texts(page)
    assert "First 8.00" in texts(page)
    assert not any("|" in text or text.startswith("-") for text in texts(page))


def with_end(added: str) -> bytes:
    """The sample, with this at the end of its article."""
    return PAGE.replace(b"</article>", added.encode() + b"</article>", 1)


@pytest.mark.parametrize(
    ("attributes", "is_kept"),
    [
        ("hidden", False),
        ('hidden=""', False),
        ('hidden="until-found"', True),  # a search of the browser finds it
        ('style="color: red; display : none"', False),
        ('style="VISIBILITY:hidden"', False),
        ('style="display: block"', True),
    ],
)
def test_what_a_page_does_not_show_is_no_text_of_pages_and_mails(load, attributes, is_kept):
    added = f"<p {attributes}>The harbour uses cookies of others.</p>"
    (page,) = load(with_end(added + "<p>At noon it rained.</p>"), "html")
    assert "At noon it rained." in texts(page)
    assert ("The harbour uses cookies of others." in texts(page)) == is_kept
    assert ("cookies" in html_to_text(f"<p>It rained.</p>{added}")) == is_kept


def test_an_article_is_read_that_a_script_shows_when_it_has_loaded(load):
    body = PAGE.replace(b"<body>", b"<body style='visibility:hidden'><div hidden>", 1)
    assert body != PAGE
    assert texts(load(body, "html")[0]) == texts(load(PAGE, "html")[0])
    for tag in (b"main", b"article", b"h1"):
        body = body.replace(b"<%s" % tag, b"<div").replace(b"</%s>" % tag, b"</div>")
    assert texts(load(body, "html")[0]) == texts(load(body.replace(b" hidden", b""), "html")[0]) != []


def test_a_row_inside_of_a_list_and_bars_laid_out_by_hand_leave_no_bar(load):
    row = "<table><tr><td>DL</td><td>8.00</td></tr></table>"
    links = "<p>The ferry is full. | The quay is closed. | <b>Prices rise.</b> |</p>"
    sentences = texts(
        load(with_end(f"<ul><li>{row}</li><li>Sails at ten | daily.</li></ul>{links}"), "html")[0]
    )
    assert [text for text in sentences if "|" in text] == []
    assert (
        "DL 8.00" in sentences and "Sails at ten daily." in sentences and "The quay is closed." in sentences
    )


def test_a_bar_within_a_word_stays(load):
    assert "The vote was 51|49 in the end." in texts(
        load(with_end("<p>The vote was 51|49 in the end.</p>"), "html")[0]
    )


@pytest.mark.parametrize("word", ["می\u200cخواهم", "ക\u0d4d\u200dഷ", "\U0001f469\u200d\U0001f4bb"])
def test_invisible_signs_that_join_or_part_letters_stay(load, word):
    assert f"{word} in the town." in texts(load(with_end(f"<p>{word} in the town.</p>"), "html")[0])


def test_soft_hyphens_do_not_split_words(load):
    assert "The harbour is shut." in texts(load(with_end("<p>The har&shy;bour is shut.</p>"), "html")[0])


def test_a_page_laid_out_by_a_table_keeps_its_paragraphs(load):
    cells = "<tr><td><p>The quay was rebuilt</p><p>The town paid for it</p></td><td> </td></tr>"
    sentences = texts(load(with_end(f"<table>{cells}</table>"), "html")[0])
    assert sentences[-2:] == ["The quay was rebuilt", "The town paid for it"]


def test_lines_of_a_page_without_paragraphs_are_separate_and_wrapped_ones_are_not(load):
    lines = "<h4>Close</h4><label>Subscribe</label><h4>Homes</h4><span>See all of</span><b>it</b>"
    page = f"<html><head><title>Shop</title></head><body>{lines}</body></html>"
    assert texts(load(page, "html")[0]) == ["Close", "Subscribe", "Homes", "See all of it"]


def test_the_headline_above_the_text_is_not_a_sentence(load):
    title = b"<h1>Ferry back in service</h1>"
    data = PAGE.replace(title, b"").replace(b"<article>", b"<article>" + title, 1)
    assert texts(load(data, "html")[0])[0] != "Ferry back in service"


DEPTH = 300


@pytest.mark.parametrize("closing", ["</font>" * DEPTH, ""])
def test_text_in_and_after_deeply_nested_elements_is_read(load, closing):
    article = f"{'<font>' * DEPTH}<p>{'It was deep down. ' * 30}</p>{closing}<p>{'It came up. ' * 30}</p>"
    (document,) = load(f"<html><body><article>{article}</article></body></html>".encode(), "html")
    assert set(texts(document)) == {"It was deep down.", "It came up."}
    assert html_to_text(f"{'<div>' * DEPTH}Deep.{'</div>' * DEPTH}<p>After.</p>") == "Deep.\n\nAfter."


def test_elements_that_are_nested_without_end_are_an_error():
    with pytest.raises(NoArticle, match="nested too deeply"):
        html_to_text("<div>" * 20_000 + "Deep.")


def test_a_page_whose_extraction_would_not_end_is_refused(load_error):
    page = "<html><body>" + "<table><tr><td>A storm came. " * 20_000
    assert "more than 2,000 nested elements" in load_error(page.encode(), "html")


# The sample is written by warcio, as crawlers write WARC 1.0.


WARC = sample("warc")
IDS = ["urn:uuid:00000000-0000-0000-0000-000000000001", "urn:uuid:00000000-0000-0000-0000-000000000004"]


def records() -> list[bytes]:
    """The sample's records."""
    return [b"WARC/1.0\r\n" + record for record in WARC.split(b"WARC/1.0\r\n")[1:]]


def test_texts_without_their_pages_are_told_as_such(load_error):
    head = b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:x>\r\nContent-Type: text/plain\r\n"
    assert "a text without its page (WET;" in load_error(
        head + b"Content-Length: 5\r\n\r\nHail.\r\n\r\n", "warc"
    )


def test_answered_pages_are_read_and_other_records_skipped(load):
    first, second = load(WARC, "warc")
    assert [first.id, second.id] == IDS
    assert (first.title, first.url) == ("Ferry back in service", "http://news.example/1")
    assert "recipes" not in " ".join(texts(first))


def test_a_page_without_a_date_gets_that_of_the_visit(load):
    data = WARC.replace(b"2024-01-15T09:00:00+01:00", b"x" * 25)
    assert load(WARC, "warc")[0].date == "2024-01-15"
    assert load(data, "warc")[0].date == "2024-01-16T09:00:00Z"
    # Early crawlers wrote days that do not exist.
    assert load(data.replace(b"2024-01-16T09", b"2024-01-65T09"), "warc")[0].date is None


@pytest.mark.parametrize("address", ["?id=5&from=rss", ":8080/?id=5", "#top", "/a?id=5"])
def test_the_source_of_a_page_without_a_name_is_its_host(load, address):
    address = b"http://www.news.example" + address.encode()
    data = WARC.replace(b"http://news.example/1\r", address + b"\r")
    site = b'<meta property="og:site_name" content="The Example">'
    for part in (site, b" - The Example", b'<link rel="canonical" href="http://news.example/ferry">'):
        data = data.replace(part, b" " * len(part))  # records state their lengths
    first, _ = load(data, "warc")
    assert (first.source, first.url) == ("news.example", address.decode())


def test_an_address_with_a_blank_does_not_break_a_record(load, monkeypatch):
    monkeypatch.setattr(logging.getLogger("warcio"), "propagate", False)  # as without pytest
    first, _ = load(WARC.replace(b"http://news.example/1\r", b"http://news.example/ 1\r"), "warc")
    assert first.url == "http://news.example/%201"


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, lambda _: b"".join(map(gzip.compress, records()))],
    ids=["", "gz", "gz each"],
)
def test_it_is_recognised_by_its_first_bytes_however_it_is_packed(load, pack):
    assert [d.id for d in load(pack(WARC))] == IDS


def test_a_truncated_page_is_not_a_document(load, load_error):
    cut = b"".join(records()[:2])[:-500]
    assert load(WARC, "warc", bad := []) and not bad
    assert "truncated" in load_error(cut, "warc")


def test_a_record_longer_than_its_content_length_is_not_a_document(load):
    bad = []
    *before, last = records()
    assert [d.id for d in load(b"".join([*before, last[:-4] + b"more\r\n\r\n"]), "warc", bad)] == IDS[:1]
    assert "has another length than it states" in bad[0].problem


def test_a_record_with_too_small_a_content_length_is_not_a_document(load):
    before, page, *_, last = records()
    size = next(line for line in page.split(b"\r\n") if line.startswith(b"Content-Length: "))
    less = page.replace(size, b"Content-Length: %d" % (int(size.split()[1]) - 900), 1)
    bad = []
    assert [d.id for d in load(b"".join([before, last, less, last]), "warc", bad)] == IDS[1:]
    assert len(bad) == 1 and "broken WARC" in bad[0].problem


def test_a_record_without_an_id_is_malformed(load):
    bad = []
    data = WARC.replace(b"WARC-Record-ID: <" + IDS[0].encode() + b">\r\n", b"")
    assert [d.id for d in load(data, "warc", bad)] == IDS[1:]
    assert "no WARC-Record-ID" in bad[0].problem


ITEM = "<nitf><body><body.content><p>{}</p></body.content></body></nitf>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
QUADRATIC = f'<!ENTITY a "{"x" * 50_000}">'


@pytest.mark.parametrize(
    ("definitions", "content"),
    [
        ('<!ENTITY l0 "ha">', "Text. &l0;"),
        ('<!ENTITY l0 "ha">' + LAUGHS, "Text. &l11;"),
        (QUADRATIC, "Text. " + "&a;" * 50_000),
        ('<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;', "Text."),
    ],
)
@pytest.mark.parametrize("format", ["nitf", "newsml", "feed"])
def test_an_xml_bomb_is_rejected_or_its_entities_are_not_expanded(load, definitions, content, format):
    """The text of an entity that is expanded would be among the sentences, or fill the memory."""
    inner = ITEM.format(content)
    if format == "newsml":
        inner = f'<newsItem guid="g"><inlineXML>{inner}</inlineXML></newsItem>'
    elif format == "feed":
        inner = (
            f"<rss><channel><item><guid>g</guid><description>{content}</description></item></channel></rss>"
        )
    try:
        (document,) = load(f"<!DOCTYPE x [{definitions}]>{inner}", format)
        assert texts(document) == ["Text."]
    except InputError as error:
        assert "broken" in str(error)


@pytest.mark.parametrize("format", ["nitf", "feed"])
def test_an_external_entity_is_not_read(load, tmp_path, format):
    (tmp_path / "secret").write_text("a secret")
    inner = ITEM.format("Text. &x;")
    if format == "feed":
        inner = "<rss><channel><item><guid>g</guid><title>Text. &x;</title></item></channel></rss>"
    data = f'<!DOCTYPE x [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>{inner}'
    try:
        output = repr(load(data, format))
    except InputError as error:
        output = str(error)
    assert "a secret" not in output


def test_html_entities_are_decoded_without_a_dtd(load):
    data = '<!DOCTYPE nitf SYSTEM "nitf.dtd">' + ITEM.format("Caf&eacute; &no-such; &amp; bar.")
    assert texts(load(data, "nitf")[0])[0].startswith("Café")


def test_deeply_nested_xml_is_rejected(load_error):
    assert "broken XML" in load_error("<nitf>" + "<p>" * 100_000, "nitf")


def test_an_item_that_is_too_long_is_rejected(load_error, monkeypatch):
    monkeypatch.setattr(markup, "MAX_ELEMENT_BYTES", 100_000)
    assert "an item is longer than" in load_error(ITEM.format("x " * 200_000), "nitf")


def test_items_are_read_one_at_a_time_and_freed(load, monkeypatch):
    monkeypatch.setattr(markup, "MAX_ELEMENT_BYTES", 100_000)
    items = "".join(
        f'<newsItem guid="g{n}"><inlineData>Text {n}.</inlineData></newsItem>' for n in range(9000)
    )
    assert len(load(f"<newsMessage>{items}</newsMessage>", "newsml")) == 9000


# Dates and authors


LEAD = "<p>The ferry across the fjord sails again after repairs of two weeks, said its owner on Monday.</p>"
OWN = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "Ferry back in service",
    "datePublished": "2024-01-15T09:00:00Z",
    "dateModified": "2024-02-01T09:00:00Z",
    "author": [{"@type": "Person", "name": "Jane Doe"}],
}
OTHER = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "Harbour closed",
    "datePublished": "2023-05-05",
    "author": {"name": "John Roe"},
}
MODIFIED = '<meta property="article:modified_time" content="2024-02-01T09:00:00Z">'
RELATED = (
    '<div class="related-stories"><h3>Harbour closed</h3><a rel="author" href="/john">John Roe</a></div>'
)


def article_page(head="", before="", after=""):
    body = f"{before}<article><h1>Ferry back in service</h1>{LEAD * 4}</article>{after}"
    return f"<html><head><title>Ferry back in service</title>{head}</head><body>{body}</body></html>"


def linked(*objects):
    return "".join(f'<script type="application/ld+json">{json.dumps(each)}</script>' for each in objects)


@pytest.mark.parametrize(
    "head",
    [
        linked(OWN),
        MODIFIED + linked(OWN),
        linked(OTHER, OWN),
        linked([{"@type": "ItemList", "itemListElement": [OTHER]}, OWN]),
        linked({"@graph": [{"@type": "WebPage", "dateModified": "2024-02-01"}, OWN]}),
    ],
)
def test_a_page_is_dated_by_its_publication_and_has_its_own_authors(load, head):
    (page,) = load(article_page(head, after=RELATED), "html")
    assert (page.title, page.date, page.authors) == ("Ferry back in service", "2024-01-15", ("Jane Doe",))


def test_the_authors_of_related_articles_are_not_those_of_the_page(load):
    own = '<p class="byline">By <a rel="author" href="/jane">Jane Doe</a></p>'
    assert load(article_page(after=RELATED), "html")[0].authors == ()
    aside = '<aside><article><h3>Other</h3><a rel="author">John Roe</a></article></aside>'
    assert load(article_page(after=aside), "html")[0].authors == ()
    assert load(article_page(before=own, after=RELATED), "html")[0].authors == ("Jane Doe",)


def test_broken_data_of_a_page_do_not_stop_its_reading(load):
    broken = '<script type="application/ld+json">{"@type": "NewsArticle", </script>' + linked(
        [1, "x", {"@type": 5}]
    )
    assert load(article_page(broken), "html")[0].title == "Ferry back in service"
    odd = {**OWN, "author": [5, None, {"name": 7}, "https://news.example/jane"], "datePublished": 5}
    (page,) = load(article_page(linked(odd)), "html")
    assert (page.date, page.authors) == (None, ()) or page.date == "2024-02-01"


# Titles, sources, languages and texts that a page states


BODY = "<p>The ferry sails again after repairs of two weeks.</p><p>Two hundred people were aboard it.</p>" * 3


def page_of(head: str, heading: str = "", text: str = BODY, lang: str = "en") -> str:
    return f'<html lang="{lang}"><head>{head}</head><body><article>{heading}{text}</article></body></html>'


@pytest.mark.parametrize(
    ("head", "heading"),
    [
        ('<title>Ferry back | The Example</title><meta property="og:site_name" content="The Example">', ""),
        ('<title>The Example - Ferry back</title><meta property="og:site_name" content="The Example">', ""),
        ("<title>Ferry back \u2013 Example Online</title>", "<h1>Ferry back</h1>"),
        (
            "<title>Ferry back | Coast | The Example</title>"
            '<meta property="og:site_name" content="The Example">',
            "<h1>Ferry back</h1>",
        ),
        (
            '<meta property="og:title" content="Ferry back - example.org">'
            '<link rel="canonical" href="https://www.example.org/a">',
            "",
        ),
    ],
)
def test_a_title_does_not_have_the_name_of_the_site(load, head, heading):
    assert load(page_of(head, heading), "html")[0].title == "Ferry back"


@pytest.mark.parametrize("title", ["Ferry - back in service", "Spider-Man | a review"])
def test_a_title_with_a_dash_of_its_own_stays(load, title):
    head = f'<title>{title}</title><meta property="og:site_name" content="The Example">'
    assert load(page_of(head, f"<h1>{title}</h1>"), "html")[0].title == title


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="twitter:site" content="@example"><meta property="og:site_name" content="The Example">',
        '<meta property="og:site_name" content="https://www.facebook.com/example">'
        '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Ferry back",'
        ' "publisher": {"name": "The Example"}}</script>',
        '<meta property="og:site_name" content="The Example"><title>Ferry back | Nine ways to sail</title>',
    ],
)
def test_the_source_is_the_name_of_the_site_and_no_account_or_headline(load, head):
    assert load(page_of(f"<title>Ferry back</title>{head}"), "html")[0].source == "The Example"


def test_an_account_without_a_name_gives_way_to_the_host(load):
    head = (
        '<meta name="twitter:site" content="@example"><link rel="canonical" href="https://www.example.org/a">'
    )
    assert load(page_of(f"<title>Ferry back</title>{head}"), "html")[0].source == "example.org"


STATED = " ".join(
    f"In week {number} the ferry sailed to another island of the fjord." for number in range(40)
)


def test_a_text_that_the_page_only_states_is_read_whole(load):
    script = json.dumps({"@type": "NewsArticle", "headline": "Ferry back", "articleBody": STATED})
    head = f'<title>Ferry back</title><script type="application/ld+json">{script}</script>'
    (page,) = load(page_of(head, text=f"<p>{STATED[: len(STATED) // 2]}</p>"), "html")
    assert " ".join(texts(page)) == STATED


def test_a_stated_text_that_is_cut_does_not_replace_the_text_of_the_page(load):
    script = json.dumps({"@type": "NewsArticle", "headline": "Ferry back", "articleBody": STATED[:400]})
    head = f'<title>Ferry back</title><script type="application/ld+json">{script}</script>'
    whole = "".join(f"<p>{sentence}.</p>" for sentence in STATED.split(". "))
    (page,) = load(page_of(head, text=whole), "html")
    assert len(texts(page)) == 40


FRENCH = "<p>Le ferry navigue de nouveau apr\u00e8s deux semaines de r\u00e9parations dans le port.</p>" * 5


@pytest.mark.parametrize(
    ("text", "lang", "language"),
    [(FRENCH, "en", "fr"), (FRENCH, "en-US", "fr"), (BODY, "en-GB", "en-GB"), (FRENCH, "fr-CA", "fr-CA")],
)
def test_the_english_of_a_template_gives_way_to_a_detected_language(tmp_path, text, lang, language):
    (tmp_path / "a.html").write_text(page_of("<title>Ferry</title>", text=text, lang=lang), "utf-8")
    options = ReadOptions(build=LanguageDetector().build_document)
    (found,) = read_documents([str(tmp_path)], options=options)
    assert found.document.language == language


def test_a_declared_language_of_other_formats_stays(tmp_path):
    text = "Le ferry navigue de nouveau apr\u00e8s deux semaines de r\u00e9parations dans le port."
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "language": "en", "text": text}), "utf-8")
    (found,) = read_documents([str(tmp_path)], options=ReadOptions(build=LanguageDetector().build_document))
    assert found.document.language == "en"
