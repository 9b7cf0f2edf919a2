"""Subtitles and transcripts, SRT and WebVTT: one document per file, whose sentences have times.

The time of a sentence is that of the subtitle in which it begins.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    SECOND,
    Format,
    InputError,
    Record,
    Source,
    join_pieces,
    make_id_from_path,
    read_lines,
    to_one_line,
    too_long_error,
)
from esr.plugin.provisional import compile_lazily

PAUSE = 3.0
"""Seconds of a pause that ends a paragraph."""
LONGEST = 300
"""Letters without a full stop that end a paragraph: speech recognition may give no punctuation."""

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?"
_TIMES = compile_lazily(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?$", re.ASCII)
_TAG = compile_lazily(r"<[/\w][^<>]{0,200}>|\{\\[^{}]{0,200}\}")
_WORD_TIME = compile_lazily(r"<\d{1,2}:\d\d[:.]")
_SPEAKER = compile_lazily(r"<v(?:\.[^\s<>]{0,100})?\s+([^<>]{1,200})>")
_TURN = compile_lazily(r"(?:[-–—]\s?|>>\s*)(?=\S)")
_END = compile_lazily(r"[.!?…。！？।؟][\"'”’»)\]]*$")
_LANGUAGE = compile_lazily(r"[a-z]{2}(?:-[A-Za-z]{2,4})?")


class Cue(NamedTuple):
    """A subtitle: its times in seconds, its lines, and its speaker if it names one."""

    start: float
    end: float
    lines: list[str]
    speaker: str | None = None


def read(source: Source) -> Iterator[Record]:
    """The record of the file. Raises InputError at a time that cannot be read."""
    header: list[str] = []
    cues = list(_read_cues(source, header))
    path = PurePosixPath(source.id_path)
    stem, _, ending = path.stem.rpartition(".")
    named = ending if stem and _LANGUAGE.fullmatch(ending) else None
    name = (stem if named else path.stem).replace("_", " ")
    title = header[0].removeprefix("WEBVTT").strip(" -\t") if header else ""
    declared = next((line[9:].strip() for line in header if line.startswith("Language:")), None)
    if cues:
        fields = {
            "id": make_id_from_path(source),
            "title": title or (None if name == "stdin" else name),
            "language": declared or named,
            "authors": list(dict.fromkeys(cue.speaker for cue in cues if cue.speaker)),
            "metadata": {"seconds": round(cues[-1].end)},
            "text": join_pieces(_join_cues(cues), separator=""),
        }
        yield Record(source.name, fields)


def _read_cues(source: Source, header: list[str]) -> Iterator[Cue]:
    """The subtitles with a text. The lines before the first one of WebVTT are appended to `header`."""
    times: re.Match[str] | None = None
    lines: list[str] = []
    size = 0
    is_note = False
    for number, line in read_lines(source):
        line = line.strip()
        size += len(line)
        if size > MAX_DOCUMENT_BYTES:
            raise too_long_error(source, 1)
        if number == 1 and line.startswith("WEBVTT"):
            header.append(line)
            is_note = True
        elif "-->" in line and (not is_note or _TIMES.match(line)):
            if times:
                yield _build_cue(times, lines, has_ids=bool(header))
            times, lines, is_note = _TIMES.match(line), [], False
            if times is None:
                where = f"{source.name}:{number}"
                raise InputError(
                    where,
                    f"{to_one_line(line)[:60]!r} are no times: write them as 00:01:02,500 --> 00:01:04,000",
                )
        elif line.startswith(("NOTE", "STYLE", "REGION")) and header and (not lines or not lines[-1]):
            is_note = True
        elif is_note:
            is_note = bool(line)
            header += [line] if times is None else []
        else:
            lines.append(line)
    if times:
        yield _build_cue(times, lines, has_ids=bool(header))


def _build_cue(times: re.Match[str], lines: list[str], has_ids: bool) -> Cue:
    """The subtitle with these lines. The number of the next one, or its id in WebVTT, may follow them."""
    start, end = _to_seconds(times.groups()[:4]), _to_seconds(times.groups()[4:])
    if has_ids and "" in lines:
        lines = lines[: lines.index("")]
    elif len(lines) > 1 and not lines[-2] and lines[-1].isdigit():
        lines = lines[:-2]
    speaker = next((match[1].strip() for line in lines if (match := _SPEAKER.search(line))), None)
    return Cue(start, end, list(filter(None, lines)), speaker)


def _to_seconds(groups: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = (group or "0" for group in groups)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(f".{fraction}")


def _join_cues(cues: list[Cue]) -> Iterator[tuple[str, dict[str, float]]]:
    """The texts of subtitles with their times, each followed by a blank or the end of a paragraph."""
    pending = ""
    place: dict[str, float] = {}
    before: Cue | None = None
    open_letters = 0  # since the last full stop
    for cue in cues:
        is_new = False
        for line in _new_lines(cue, before):
            text = html.unescape(_TAG.sub("", line)).strip()
            if not text:
                continue
            turn = _TURN.match(text)
            text = text[turn.end() :] if turn else text
            has_pause = before is not None and cue.start - before.end >= PAUSE
            has_changed = before is not None and cue.speaker != before.speaker
            is_paragraph = turn or (not is_new and (has_pause or has_changed)) or open_letters > LONGEST
            if pending:
                yield pending + ("\n\n" if is_paragraph else " "), place
            open_letters = 0 if is_paragraph or _END.search(pending) else open_letters + len(text)
            pending, place, is_new = text, {SECOND: round(cue.start, 1)}, True
        before = cue
    if pending:
        yield pending, place


def _new_lines(cue: Cue, before: Cue | None) -> Iterator[str]:
    """The lines that the previous subtitle did not show: roll-up subtitles repeat lines."""
    if before is None or cue.start - before.end > PAUSE:
        yield from cue.lines
        return
    shown = [_TAG.sub("", line).strip() for line in before.lines]
    is_rolling = cue.end - cue.start < 0.1 or any(map(_WORD_TIME.search, (*cue.lines, *before.lines)))
    for n, line in enumerate(cue.lines):
        text = _TAG.sub("", line).strip()
        moved_up = not n and len(cue.lines) > 1 and text in shown[-1:]
        if not moved_up and not (is_rolling and text in shown):
            yield line


VTT = Format(
    "vtt",
    "WebVTT subtitles: one document per file, and the time of each sentence",
    suffixes=(".vtt",),
    sniff=lambda head: bool(re.match(rb"WEBVTT(?:\s|$)", head)),
    read=read,
    is_text=True,
)


SRT = Format(
    "srt",
    "SRT subtitles: one document per file, and the time of each sentence",
    suffixes=(".srt",),
    sniff=lambda head: bool(re.match(rb"\d{1,6}\s*[\r\n]\d{1,4}:\d\d:\d\d[,.]\d{1,3}\s*-->", head)),
    read=read,
    is_text=True,
)
