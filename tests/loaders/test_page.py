"""The sample is a page with the parts that pages of news have: menus, advertisements, comments."""

import pytest

from esr.loaders import read_documents
from esr.loaders.page import NoArticle, html_to_text
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


def test_a_page_is_recognised_by_its_contents_if_it_was_named_or_is_said_to_be_text(load, tmp_path):
    (page,) = load(PAGE)
    assert page.title == load(PAGE, "html")[0].title
    (tmp_path / "news.txt").write_bytes(PAGE)
    (tmp_path / "index.php").write_bytes(PAGE)
    (of_a_folder,) = [located.document for located in read_documents([str(tmp_path)])]
    assert of_a_folder.id.endswith("/news") and texts(of_a_folder) == texts(page)
    assert len(list(read_documents([str(tmp_path)], "html"))) == 2


def test_a_page_that_is_too_long_is_malformed(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.page.MAX_PAGE_BYTES", 1000)
    assert "the page is longer than" in load_error(PAGE, "html")


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
