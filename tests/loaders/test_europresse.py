"""Exports of Europresse in its two layouts: the markup is Europresse's, the news in them is made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from esr.loaders import read_documents
from esr.text.document import Document
from tests.loaders.conftest import texts

ARTICLE = """<article> <header> <div> <span class="DocPublicationName">{source}   </span> </div>
<div> <span class="DocHeader">{header}</span> </div> <div><p>COASTS</p></div>
<div class="titreArticle"> <p class="titreArticleVisu">{title}</p> </div> <div>{author}</div> </header>
<section> <div class="DocText"> <div class='docOcurrContainer'> <p>{first}</p>
<p>It was <mark>full</mark>.</p>
</div> </div> </section> <aside> <div> <p><b>Illustration(s) : </b></p> </div> </aside>
<footer> <small>\u00a9 2006 Owner. Tous droits r\u00e9serv\u00e9s.</small>
<div id="divPubliC"> <span id="PubliC_lblNodoc">{id}</span> <span>Ce certificat est \u00e9mis</span>
</div> </footer> </article>"""
NEWER = "<!DOCTYPE html> <html> <head> <meta charset='utf-8'> <title></title></head> <body>{}</body></html>"
OLDER = """<html><head><META
http-equiv="Content-Type" content="text/html; charset=utf-8"></head><body>
<table><tr><td><table id="tbHeaderImages"><tr><td id="celPublication"><img src="a.gif"><br></td></tr></table>
<span class="DocPublicationName">Le Port</span><br><span class="DocHeader">Politique, </span><span
class="DocHeader">jeudi </span><span class="DocHeader">5 octobre 2013</span><br><br><span
class="TitreArticleVisu">Le ferry est de retour</span><br><br>Le ferry part.<font style="font-weight:bold;">
Il est plein.</font><p></p>Le port est ouvert.<p></p><b><i>\u00a9 2013 Le Port.</i></b><p></p>Num\u00e9ro de
document : news\u00b720131005\u00b7PO\u00b72040056000<br><table>
<tr><td>Ce certificat est \u00e9mis</td></tr></table></td></tr></table></body></html>"""


def write(id: str = "news\u00b720060314\u00b7LP\u00b70q1", **changes: str) -> str:
    fields = {
        "source": "Le Port",
        "header": "Communication, mardi 14 mars 2006, p. 16",
        "title": "Le ferry est de retour",
        "author": "Ida Brand",
        "first": "Le ferry part.",
    }
    return ARTICLE.format(id=id, **(fields | changes))


def test_each_article_of_an_export_is_a_document(load: Callable[..., list[Document]]) -> None:
    second = write(
        "news\u00b720060315\u00b7LP\u00b70q2", title="Le port", header="lundi 13 mars 2006, p. MDE6"
    )
    first, other = load(NEWER.format(write() + second), "html")
    assert first.id == "news\u00b720060314\u00b7LP\u00b70q1"
    assert (first.title, first.date, first.source) == ("Le ferry est de retour", "2006-03-14", "Le Port")
    assert (first.section, list(first.authors)) == ("Communication", ["Ida Brand"])
    assert texts(first) == ["Le ferry part.", "It was full."]
    assert (other.title, other.date, other.section) == ("Le port", "2006-03-13", None)


@pytest.mark.parametrize(
    ("header", "date", "section"),
    [
        ("Tuesday, March 14, 2006, p. A1", "2006-03-14", None),
        ("News, Saturday, August 1, 2020", "2020-08-01", "News"),
        ("France, samedi 1er ao\u00fbt 2020 - 08:13 UTC +02:00, p. 3", "2020-08-01", "France"),
    ],
)
def test_the_date_is_found_among_section_and_pages(
    load: Callable[..., list[Document]], header: str, date: str, section: str | None
) -> None:
    (article,) = load(NEWER.format(write(header=header)), "html")
    assert (article.date, article.section) == (date, section)


def test_the_number_of_an_issue_is_no_part_of_the_source(load: Callable[..., list[Document]]) -> None:
    (article,) = load(NEWER.format(write(source="Le Port, no. 23121")), "html")
    assert article.source == "Le Port"


def test_the_older_layout_has_its_articles_in_cells(load: Callable[..., list[Document]]) -> None:
    (article,) = load(OLDER, "html")
    assert (article.id, article.date) == ("news\u00b720131005\u00b7PO\u00b72040056000", "2013-10-05")
    assert (article.title, article.source, article.section) == (
        "Le ferry est de retour",
        "Le Port",
        "Politique",
    )
    assert texts(article) == ["Le ferry part.", "Il est plein.", "Le port est ouvert."]


def test_an_export_is_read_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "export.html").write_text(
        NEWER.format(write() + write("news\u00b720060315\u00b7LP\u00b70q2")), "utf-8"
    )
    assert len(list(read_documents([str(tmp_path)]))) == 2


def test_an_article_without_title_and_text_is_malformed(load: Callable[..., list[Document]]) -> None:
    empty = write("x", title="").replace("<p>Le ferry part.</p>\n<p>It was <mark>full</mark>.</p>", "")
    bad: list[object] = []
    assert len(load(NEWER.format(write() + empty), "html", bad)) == 1
    assert len(bad) == 1
