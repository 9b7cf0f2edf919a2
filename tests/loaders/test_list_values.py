import pytest

from esr.loaders.list_values import is_lossless, read_list


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Jane Doe", ["Jane Doe"]),
        ("By Jane Doe and John Roe", ["Jane Doe", "John Roe"]),
        ("Jane Doe, John Roe and Ann Poe", ["Jane Doe", "John Roe", "Ann Poe"]),
        ("Jane Doe; John Roe", ["Jane Doe", "John Roe"]),
        ("Doe, Jane", ["Doe, Jane"]),
        ("Reuters, Associated Press", ["Reuters, Associated Press"]),
        ("['Jane Doe', 'John Roe']", ["Jane Doe", "John Roe"]),
        ('["Jane Doe"]', ["Jane Doe"]),
        ("[Jane Doe]", ["[Jane Doe]"]),
        ("  ", []),
    ],
)
def test_authors_in_one_text_are_separated(text, names):
    assert read_list("authors", text) == names


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("brexit, climate change", ["brexit", "climate change"]),
        ("Trade; Brexit, soft; ", ["Trade", "Brexit, soft"]),
        ("black and white", ["black and white"]),
        ("[]", []),
        (r"['a\d', 'b']", [r"a\d", "b"]),
    ],
)
def test_keywords_in_one_text_are_separated(text, keywords):
    assert read_list("keywords", text) == keywords


def test_lists_may_have_objects():
    assert read_list("authors", [{"@type": "Person", "name": "Jane Doe"}, "John Roe "]) == [
        "Jane Doe",
        "John Roe",
    ]
    assert read_list("keywords", [{"name": "subject", "value": "Brexit"}]) == ["Brexit"]
    assert read_list("authors", {"name": "Jane Doe"}) == ["Jane Doe"]
    assert not is_lossless([{"@type": "Person", "name": "Jane Doe"}])
    assert is_lossless([{"name": "Jane Doe"}, "John Roe"])


@pytest.mark.parametrize("value", [5, None, [5], [["x"]], [{"first": "Jane"}], {"id": 5}])
def test_what_is_no_list_of_texts_is_not_read(value):
    assert read_list("authors", value) is None
