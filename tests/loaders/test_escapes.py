from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.loaders.escapes import decode


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (r"It cost \$5 or \"less\".", 'It cost $5 or "less".'),
        ("&lt;b&gt;Ferry&lt;/b&gt; sails", "Ferry sails"),
        ('&lt;A HREF="http://x.org/a?b"&gt;Ferry&lt;/A&gt; sails', "Ferry sails"),
        ("<p>One.</p><P class='x'>Two.<br/>Three.", "\n\nOne.\n\n\n\nTwo.\n\nThree."),
        ("Marks &amp; Spencer&#39;s&nbsp;sale &#x2014; &eacute;", "Marks & Spencer's sale — é"),
        ("In <b>HTML</b>, &lt;b&gt; is bold", "In HTML, <b> is bold"),
    ],
)
def test_what_a_writer_of_tables_left_is_decoded(text, decoded):
    assert decode(text) == decoded


@pytest.mark.parametrize(
    "text",
    ["5 < 6 and 7 > 6", "AT&T; R&D", "<name> said", r"C:\Users\a", "a &b c;", "<3", "&nosuch;", "<beta>"],
)
def test_a_text_without_html_is_unchanged(text):
    assert decode(text) == text


@given(st.text(alphabet="xz 5<>&'\"", max_size=40))
def test_what_was_escaped_comes_back(text):
    assert decode(escape(text)) == text
