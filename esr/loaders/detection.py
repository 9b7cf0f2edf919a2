"""Finds the format of a file by its name and its first bytes."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import PurePath

from esr.loaders.files import PeekedSource, detect_archive_type
from esr.loaders.format import FORMATS, Format

_PICTURE = "is a picture: recognise its text first, for example with ocrmypdf"
_PACKED = "is packed in a format that is not read: unpack it, or pack it with zip, gzip, bzip2 or Zstandard"
_UNREAD = {
    b"{\\rtf": "is RTF, which is not read: save it as DOCX, or export it as DOCX or text",
    b"\xd0\xcf\x11\xe0": "is encrypted, or in the format of an older program: save it again as DOCX or XLSX",
    b"\xff\xd8\xff": _PICTURE,
    b"\x89PNG": _PICTURE,
    b"II*\0": _PICTURE,
    b"MM\0*": _PICTURE,
    b"7z\xbc\xaf": _PACKED,
    b"Rar!": _PACKED,
    b"\xfd7zXZ": _PACKED,
}
"""Advice for files of unknown formats, by their first bytes."""


def describe_unknown(head: bytes) -> str:
    advice = next((text for start, text in _UNREAD.items() if head.startswith(start)), None)
    return advice or f"unknown format: name it with --format ({', '.join(FORMATS)})"


def detect_format(file: PeekedSource) -> Format | None:
    """The format by the file name's suffix, or by the first bytes if the suffix is not conclusive.

    Formats of plug-ins are tried for suffixes that esr does not know, and for files that are in none of esr's
    formats, so that most loads import no plug-in.
    """
    if find_suffix(file) and not _find_by_suffix(file, FORMATS.built_in):
        by_suffix = _find_by_suffix(file, FORMATS.from_plugins)
        if by_suffix:
            return next((format for format in by_suffix if _has_format(file, format)), by_suffix[0])
    return _detect(file, FORMATS.built_in) or _detect(file, FORMATS.from_plugins)


def _detect(file: PeekedSource, formats: Mapping[str, Format]) -> Format | None:
    by_suffix = _find_by_suffix(file, formats)
    if len(by_suffix) == 1 and not _is_ambiguous(by_suffix):
        return by_suffix[0]
    candidates = formats.values() if not by_suffix or _is_ambiguous(by_suffix) else by_suffix
    by_head = next((format for format in candidates if _has_format(file, format)), None)
    return by_head or next(iter(by_suffix), None)


def _has_format(file: PeekedSource, format: Format) -> bool:
    """Whether the file begins as files of the format do."""
    try:
        return format.sniff(file.head)
    except Exception as error:  # of a plug-in's format; the others are tried
        FORMATS.report_failure(format, error)
        return False


def detect_format_in_folder(file: PeekedSource, required: Format | None) -> Format | None:
    """The same as `detect_format`, but None for files that are probably not sources.

    If a format is required, only files in it are sources.
    """
    if required is None:
        format = detect_format(file)
        # A page that is called `.txt` is one that somebody saved, not an index of files.
        is_own = bool(_find_by_suffix(file, FORMATS.built_in))
        has_suffix = is_own or (format is not None and find_suffix(file) in format.suffixes)
        return None if format and format.often_incidental and not has_suffix else format
    by_suffix = _find_by_suffix(file, FORMATS.built_in)
    if required.name not in FORMATS.built_in:
        has_suffix = find_suffix(file) in required.suffixes and not by_suffix
        return required if has_suffix or _has_format(file, required) else None
    if required in by_suffix:
        return required if len(by_suffix) == 1 or detect_format(file) is required else None
    if required.has_no_signature:
        return required if _has_no_suffix(file) and _is_text(file) else None
    return required if (not by_suffix or _is_ambiguous(by_suffix)) and required.sniff(file.head) else None


def detect_container(file: PeekedSource, required: Format | None) -> Format | None:
    """The format of an archive that is read as one source, such as DOCX; None for all other files.

    If a format is required, None for files in other formats.
    """
    if detect_archive_type(file) != "zip":
        return None
    if required:
        return _detect_container(file, [required]) or (
            required if required.is_container and not find_suffix(file) else None
        )
    return _detect_container(file, FORMATS.built_in.values()) or _detect_container(
        file, FORMATS.from_plugins.values()
    )


def _detect_container(file: PeekedSource, formats: Iterable[Format]) -> Format | None:
    containers = [format for format in formats if format.is_container]
    by_name = (format for format in containers if find_suffix(file) in format.suffixes)
    by_head = (format for format in containers if _has_format(file, format))
    return next(chain(by_name, by_head), None)


def _is_ambiguous(formats: list[Format]) -> bool:
    """Whether the suffix is `.txt`, which Mailman's mail archives and other tools' SGML use too."""
    return [format.name for format in formats] == ["text"]


def find_suffix(file: PeekedSource) -> str:
    """The suffix of a file's name in lower case, without that of its compression."""
    return PurePath(file.source.id_path).suffix.lower()


def _find_by_suffix(file: PeekedSource, formats: Mapping[str, Format]) -> list[Format]:
    suffix = find_suffix(file)
    return [format for format in formats.values() if suffix in format.suffixes]


def _has_no_suffix(file: PeekedSource) -> bool:
    """Whether the name has no suffix, or only a number, as in `20_newsgroups/sci.space.1`."""
    suffix = find_suffix(file)
    return suffix == "" or suffix[1:].isdigit()


def _is_text(file: PeekedSource) -> bool:
    """Whether a file in no other format may be text. Only UTF-16 and UTF-32 have zero bytes, after a mark."""
    is_wide = file.raw_head.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    return detect_format(file) is None and (is_wide or b"\0" not in file.raw_head)
