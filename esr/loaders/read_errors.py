"""Converts the errors of reading and decompressing a file to InputError."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from lzma import LZMAError

from esr.errors import InputError, to_one_line

# A corrupt header may contain an unknown version or method, for which zipfile raises NotImplementedError,
# or a name that is no UTF-8.
_CORRUPT = (
    *(BadGzipFile, EOFError, zlib.error, LZMAError),
    *(zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, tarfile.TarError),
)


@contextmanager
def raise_input_errors(name: str) -> Iterator[None]:
    """Raise InputError, which shows this name, for what reading and decompressing raise inside."""
    try:
        yield
    except _CORRUPT as error:
        raise _corrupt_file(name, error) from None
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or to_one_line(error)}") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":  # of a library that may not be installed
            raise
        raise _corrupt_file(name, error) from None


def _corrupt_file(name: str, error: Exception) -> InputError:
    return InputError(
        name, f"cannot be unpacked ({to_one_line(error)}): it may be truncated, so fetch or create it again"
    )
