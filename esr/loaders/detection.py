"""Recognises the format of a file by its name, or else by its first bytes."""

from __future__ import annotations

from pathlib import PurePath

from esr.loaders.decompress import PeekedSource
from esr.loaders.format import FORMATS, Format


def detect_format(file: PeekedSource) -> Format | None:
    """The format by the file name's suffix, or by the first bytes if the suffix is not conclusive."""
    by_suffix = _find_by_suffix(file)
    if len(by_suffix) == 1 and not _is_ambiguous(by_suffix):
        return by_suffix[0]
    candidates = FORMATS.values() if not by_suffix or _is_ambiguous(by_suffix) else by_suffix
    by_head = next((format for format in candidates if format.sniff(file.head)), None)
    return by_head or next(iter(by_suffix), None)


def detect_format_in_folder(file: PeekedSource, required: Format | None) -> Format | None:
    """Like `detect_format`, but None if the file is not in the required format: then it is not meant."""
    by_suffix = _find_by_suffix(file)
    if required is None:
        format = detect_format(file)
        return None if format and format.often_incidental and not by_suffix else format
    if required in by_suffix:
        return required if len(by_suffix) == 1 or detect_format(file) is required else None
    return required if (not by_suffix or _is_ambiguous(by_suffix)) and required.sniff(file.head) else None


def _is_ambiguous(formats: list[Format]) -> bool:
    """`.txt` also names Mailman's archives of mails and other tools' SGML."""
    return [format.name for format in formats] == ["text"]


def _find_by_suffix(file: PeekedSource) -> list[Format]:
    suffix = PurePath(file.source.id_path).suffix.lower()
    return [format for format in FORMATS.values() if suffix in format.suffixes]
