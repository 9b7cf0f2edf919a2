import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.loaders.repair import repair_text


@pytest.mark.parametrize(
    ("broken", "right"),
    [
        ('they couldn"t say', "they couldn't say"),
        ('they"ve gone', "they've gone"),
        ('he DIDN"\ufffdT go', "he DIDN'T go"),
        ('Dara O"Neill and Cait O"\ufffdNeill', "Dara O'Neill and Cait O'Neill"),
        ('It is so,"?he said', 'It is so," he said'),
        ('It is so."?"But why?"?she asked', 'It is so." "But why?" she asked'),
        ('Good Morning."?\u00a0  \u00a0Next', 'Good Morning."\n\nNext'),
        ('the teachers"?unions', "the teachers' unions"),
        ('his "City First"?pledge', 'his "City First" pledge'),
        ('the "old words"?and', 'the "old words" and'),
        ('the mayor "?like others "?was', "the mayor - like others - was"),
        ('out of time -"?and more', "out of time - and more"),
        ('He said, "\ufffdYes."', 'He said, "Yes."'),
        ("a\u00a0b  c\u200b", "a b c"),
        ("Heading    Text", "Heading\n\nText"),
    ],
)
def test_unambiguous_marks_are_repaired(broken, right):
    assert repair_text(broken) == right


@pytest.mark.parametrize(
    "text", ['so scared"? Now', 'some "?15 more', "T\ufffd\ufffdnaiste", 'He said "why?" twice.', ""]
)
def test_ambiguous_marks_stay(text):
    assert repair_text(text) == text


@given(st.text(alphabet='ab O"\ufffd?.,-\u00a01'))
def test_no_letter_or_digit_is_lost(text):
    assert "".join(filter(str.isalnum, repair_text(text))) == "".join(filter(str.isalnum, text))
