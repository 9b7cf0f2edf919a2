"""The style sheet, held to what it promises: nothing from elsewhere, and colours that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import webui

STYLE = (Path(webui.__file__).parent / "static" / "esr.css").read_text("utf-8")
ROOTS = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in STYLE.split(":root {")[1:3]]
SCHEMES = dict(zip(["light", "dark"], ROOTS, strict=True))
PAIRS = [
    *[(text, ground) for text in ("ink", "quiet", "accent") for ground in ("paper", "raised")],
    ("ink", "tint"),
]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_can_be_read_on_its_ground(scheme: str) -> None:
    colours = SCHEMES[scheme]
    for text, ground in PAIRS:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast("#ffffff", colours["button"]) >= 4.5
    assert contrast(colours["edge"], colours["paper"]) >= 3.0


def test_the_style_takes_nothing_from_elsewhere() -> None:
    assert "url(" not in STYLE and "@import" not in STYLE


def test_the_style_minds_the_dark_the_narrow_and_the_printer() -> None:
    for media in ("prefers-color-scheme: dark", "max-width", "print", "forced-colors"):
        assert f"@media ({media}" in STYLE or f"@media {media}" in STYLE
