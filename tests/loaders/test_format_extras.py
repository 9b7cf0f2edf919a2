import sys

import pytest

from esr.errors import UsageError
from esr.loaders import FORMATS, documents

NEEDY = [format.name for format in FORMATS.values() if format.needs]


def test_the_formats_of_the_extra_say_what_they_need():
    assert {"feed", "html", "newsml", "nitf", "parquet", "warc"} == set(NEEDY)


@pytest.mark.parametrize("name", NEEDY)
def test_a_library_that_is_missing_is_named_with_the_line_that_installs_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, FORMATS[name].needs[0], None)
    with pytest.raises(UsageError, match=rf"the format {name} needs .*: pip install 'esr\[formats\]'"):
        documents(["-"], name)


def test_formats_of_the_extra_are_known_without_it(monkeypatch):
    for module in ("lxml", "pyarrow", "trafilatura", "feedparser", "warcio", "datasketch", "py3langid"):
        monkeypatch.setitem(sys.modules, module, None)
    assert documents(["-"], "jsonl") is not None
    with pytest.raises(UsageError, match="pip install"):
        documents(["-"], "warc")
