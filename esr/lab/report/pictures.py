"""Pictures of a report, and the formats that they are written in: SVG and PNG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from esr.lab.report.picture_style import DARK, with_style

_DPI = 200
_NO_METADATA: dict[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}
_FONTS = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Picture:
    """A figure with its file name, title and caption, and its numbers as rows after a row of heads."""

    name: str
    title: str
    text: str
    figure: Figure
    rows: Sequence[Sequence[str]] = ()


def to_svg(picture: Picture) -> bytes:
    """The picture as an SVG file, in print colours. The same picture gives the same bytes."""
    return _save(picture, "svg", metadata=_NO_METADATA)


def to_png(picture: Picture) -> bytes:
    return _save(picture, "png", dpi=_DPI, metadata={"Software": None})


def to_inline_svg(picture: Picture) -> str:
    """The picture as an <svg> element for a page with several.

    Colours are the variables of `css_variable`.
    """
    text = to_svg(picture).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.S)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'<svg ([^>]*?)(?:width|height)="[^"]*" ', r"<svg \1", text, count=1)
    text = re.sub(r'(<svg [^>]*?)\b(?:width|height)="[^"]*" ', r"\1", text, count=1)
    text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{picture.name}-", text)
    text = re.sub(r"(?<=: )#[0-9a-f]{6}\b", _to_variable, text)
    text = text.replace("'DejaVu Sans'", _FONTS)
    return text.replace("<svg ", f'<svg role="img" aria-labelledby="{picture.name}-title" ', 1).rstrip()


def css_variable(color: str) -> str:
    """The name of the CSS variable for this colour."""
    return f"--c{color[1:]}"


def _to_variable(match: re.Match[str]) -> str:
    color = match[0]
    return f"var({css_variable(color)})" if color in DARK else color


@with_style
def _save(picture: Picture, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the font lacks some letters of names
        if picture.figure.get_layout_engine():
            picture.figure.draw_without_rendering()
            picture.figure.set_layout_engine("none")  # a second layout would differ slightly
        picture.figure.savefig(file, format=format, **options)
    return file.getvalue()
