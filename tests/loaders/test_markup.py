import time

import pytest

from esr.errors import InputError
from esr.loaders import markup
from tests.loaders.conftest import texts

ITEM = "<nitf><body><body.content><p>{}</p></body.content></body></nitf>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
QUADRATIC = f'<!ENTITY a "{"x" * 50_000}">'


@pytest.mark.parametrize(
    ("definitions", "content"),
    [
        ('<!ENTITY l0 "ha">' + LAUGHS, "Text. &l11;"),
        (QUADRATIC, "Text. " + "&a;" * 50_000),
        ('<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;', "Text."),
    ],
)
@pytest.mark.parametrize("format", ["nitf", "newsml", "feed"])
def test_an_xml_bomb_is_refused_or_its_entities_stay_closed(loaded, definitions, content, format):
    inner = ITEM.format(content)
    if format == "newsml":
        inner = f'<newsItem guid="g"><inlineXML>{inner}</inlineXML></newsItem>'
    elif format == "feed":
        inner = (
            f"<rss><channel><item><guid>g</guid><description>{content}</description></item></channel></rss>"
        )
    begin = time.monotonic()
    try:
        (document,) = loaded(f"<!DOCTYPE x [{definitions}]>{inner}", format)
        assert texts(document) == ["Text."]
    except InputError as error:
        assert "broken" in str(error)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("format", ["nitf", "feed"])
def test_an_external_entity_is_not_read(loaded, tmp_path, format):
    (tmp_path / "secret").write_text("a secret")
    inner = ITEM.format("Text. &x;")
    if format == "feed":
        inner = "<rss><channel><item><guid>g</guid><title>Text. &x;</title></item></channel></rss>"
    data = f'<!DOCTYPE x [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>{inner}'
    try:
        found = repr(loaded(data, format))
    except InputError as error:
        found = str(error)
    assert "a secret" not in found


def test_entities_of_html_are_known_without_a_dtd_that_defines_them(loaded):
    data = '<!DOCTYPE nitf SYSTEM "nitf.dtd">' + ITEM.format("Caf&eacute; &no-such; &amp; bar.")
    assert texts(loaded(data, "nitf")[0])[0].startswith("Café")


def test_xml_nested_without_end_is_refused(refused):
    assert "broken XML" in refused("<nitf>" + "<p>" * 100_000, "nitf")


def test_an_item_that_is_too_long_is_refused(refused, monkeypatch):
    monkeypatch.setattr(markup, "MAX_ELEMENT_BYTES", 100_000)
    assert "has an item of more than" in refused(ITEM.format("x " * 200_000), "nitf")


def test_many_items_are_read_one_at_a_time_and_forgotten(loaded, monkeypatch):
    monkeypatch.setattr(markup, "MAX_ELEMENT_BYTES", 100_000)
    items = "".join(
        f'<newsItem guid="g{n}"><inlineData>Text {n}.</inlineData></newsItem>' for n in range(9000)
    )
    assert len(loaded(f"<newsMessage>{items}</newsMessage>", "newsml")) == 9000
