"""An index in a folder of documents that a test has drawn."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from esr.folder.index import EmbeddedIndex
from esr.folder.write import segment_writer
from esr.text.document import Located, Sentence
from tests.support.folder_index import document, load


@contextmanager
def corpus(*loads: Sequence[Located], full: int = segment_writer.FULL_TERMS) -> Iterator[EmbeddedIndex]:
    """An index of these documents, one load after another. A segment is full with so many terms."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("os.fsync"):
        where = Path(folder, "index")
        with mock.patch.object(segment_writer, "FULL_TERMS", full):
            for number, documents in enumerate(loads):
                load(where, documents, if_exists="append" if number else "fail")
        yield EmbeddedIndex(str(where))


def with_other_ids(load: Sequence[Located]) -> list[Located]:
    """The same documents under other ids."""

    def copy(located: Located) -> Located:
        sentences = (Sentence("e" + s.id, s.text, s.features) for s in located.document.sentences)
        return document("e" + located.document.id, *sentences, source=located.document.source)

    return list(map(copy, load))
