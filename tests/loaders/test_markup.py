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
