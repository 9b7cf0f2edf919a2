"""Fixtures that write files, and miniature topics in the form of the TREC Novelty track."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

# Synthetic, in the form of novelty03 and novelty04: tags are not closed, and labels repeat their names.
NOVELTY = """\
<top>

<num> Number: N1
<title> harbour strike
<toptype>event

<desc> Description:
The dockers' strike in the
harbour of Nowhere.

<narr> Narrative:
Relevant sentences tell of <b>the strike</b>, its causes & its end.

<docs>
XIE20010101.0001
NYT20010102.0002
APW20010103.0003

</top>

<top>
<num>Number: N2
<title>toll on the bridge
<toptype>Opinion
<desc>Description:
What people think of the toll.
<narr>Narrative:
Facts alone are not relevant.
<docs>
1 XIE20010104.0004
2 XIE20010101.0001
</top>
"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a file, compressed if its name ends in .gz, and returns its path."""

    def write(content: str | bytes, name: str = "file.txt") -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def read_error(file: Callable[..., Path]) -> Callable[..., str]:
    """A function that reads a file with this content and returns the error message, without the folder."""
    from esr.errors import InputError

    def message(read: Callable[[Path], object], content: str | bytes, name: str = "file.txt") -> str:
        path = file(content, name)
        with pytest.raises(InputError) as error:
            read(path)
        text = str(error.value)
        assert "\n" not in text
        return text.replace(str(path), name)

    return message
