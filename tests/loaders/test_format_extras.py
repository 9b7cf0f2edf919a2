import sys

import pytest

from esr.errors import UsageError
from esr.loaders import FORMATS, read_documents

NEEDY = [format.name for format in FORMATS.values() if format.needs]


def test_formats_of_the_extra_declare_their_modules():
    assert {"feed", "html", "newsml", "newsml1", "nitf", "parquet", "warc"} == set(NEEDY)


@pytest.mark.parametrize("name", NEEDY)
def test_a_missing_library_is_named_with_the_command_that_installs_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, FORMATS[name].needs[0], None)
    with pytest.raises(UsageError, match=rf"the format {name} needs .*: pip install 'esr\[formats\]'"):
        read_documents(["-"], name)


def test_formats_of_the_extra_are_registered_without_it(monkeypatch):
    for module in ("lxml", "pyarrow", "trafilatura", "feedparser", "warcio", "datasketch"):
        monkeypatch.setitem(sys.modules, module, None)
    assert read_documents(["-"], "jsonl") is not None
    with pytest.raises(UsageError, match="pip install"):
        read_documents(["-"], "warc")
