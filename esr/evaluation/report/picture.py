"""A picture and the ways to give it out: within a page, as an SVG file, as a PNG file."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from esr.evaluation.report.style import DARK, styled

_DPI = 200
_NO_DATA: dict[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}
_FONTS = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Picture:
    """A figure with a file name, a title, what it shows, and its numbers as rows, the first being heads."""

    name: str
    title: str
    text: str
    figure: Figure
    rows: Sequence[Sequence[str]] = ()


def svg(picture: Picture) -> bytes:
    """A file of its own, in the colours of print. The same picture gives the same bytes."""
    return _saved(picture, "svg", metadata=_NO_DATA)


def png(picture: Picture) -> bytes:
    return _saved(picture, "png", dpi=_DPI, metadata={"Software": None})


def inline(picture: Picture) -> str:
    """An <svg> element to stand in a page among others. Its colours are the variables of `variable`."""
    text = svg(picture).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.S)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'<svg ([^>]*?)(?:width|height)="[^"]*" ', r"<svg \1", text, count=1)
    text = re.sub(r'(<svg [^>]*?)\b(?:width|height)="[^"]*" ', r"\1", text, count=1)
    text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{picture.name}-", text)
    text = re.sub(r"(?<=: )#[0-9a-f]{6}\b", _variable_of, text)
    text = text.replace("'DejaVu Sans'", _FONTS)
    return text.replace("<svg ", f'<svg role="img" aria-labelledby="{picture.name}-title" ', 1).rstrip()


def variable(color: str) -> str:
    """The name of the CSS variable that holds this colour or what stands for it on a dark screen."""
    return f"--c{color[1:]}"


def _variable_of(match: re.Match[str]) -> str:
    color = match[0]
    return f"var({variable(color)})" if color in DARK else color


@styled
def _saved(picture: Picture, form: str, **options: Any) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a name in letters that the font lacks
        if picture.figure.get_layout_engine():
            picture.figure.draw_without_rendering()
            picture.figure.set_layout_engine("none")  # every new layout would be off by a hair
        picture.figure.savefig(file, format=form, **options)
    return file.getvalue()
