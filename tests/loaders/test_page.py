"""The sample is a page with the parts that pages of news have: menus, advertisements, comments."""

from tests.loaders.conftest import texts
from tests.loaders.samples import sample

PAGE = sample("html")


def test_a_page_gives_its_article_without_what_stands_around_it(loaded):
    (page,) = loaded(PAGE, "html")
    assert (page.id, page.title, page.date) == ("stdin", "Ferry back in service", "2024-01-15")
    assert (page.source, page.url, page.language) == ("The Example", "http://news.example/ferry", "en-GB")
    text = " ".join(texts(page))
    assert "sails again after repairs" in text and "as the café opened" in text and "the town said." in text
    for boilerplate in ("Home", "recipes", "First!", "Cookies"):
        assert boilerplate not in text


def test_the_encoding_is_the_pages_own(loaded):
    western = PAGE.replace(b"utf-8", b"iso-8859-1").decode().encode("latin-1")
    assert texts(loaded(western, "html")[0]) == texts(loaded(PAGE, "html")[0])


def test_a_page_without_text_is_malformed(refused):
    page = "<html><head><title>A picture</title></head><body><img src='a.jpg'></body></html>"
    assert "no text of an article" in refused(page, "html")


def test_a_page_is_never_guessed(refused):
    assert "cannot tell its format" in refused(PAGE)


def test_a_page_that_is_too_long_is_malformed(refused, monkeypatch):
    monkeypatch.setattr("esr.loaders.page.MAX_PAGE_BYTES", 1000)
    assert "no article is" in refused(PAGE, "html")


def test_lists_and_tables_give_their_words_and_no_marks(loaded):
    added = (
        "<ul><li>The first ferry sails at eight in the morning.</li><li>The last one sails at ten.</li></ul>"
        "<table><tr><th>Ferry</th><th>Sails</th></tr><tr><td>First</td><td>8.00</td></tr></table></article>"
    )
    (page,) = loaded(PAGE.replace(b"</article>", added.encode(), 1), "html")
    assert "The first ferry sails at eight in the morning." in texts(page)
    assert "First 8.00" in texts(page)
    assert not any("|" in text or text.startswith("-") for text in texts(page))


def test_the_headline_over_the_text_is_no_sentence(loaded):
    title = b"<h1>Ferry back in service</h1>"
    data = PAGE.replace(title, b"").replace(b"<article>", b"<article>" + title, 1)
    assert texts(loaded(data, "html")[0])[0] != "Ferry back in service"
