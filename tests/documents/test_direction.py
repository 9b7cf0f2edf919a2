from __future__ import annotations

import pytest

from esr.documents.direction import DIRECTIONS, text_direction


@pytest.mark.parametrize(
    ("language", "direction"),
    [
        *[(code, "rtl") for code in ("ar", "fa", "he", "ur", "yi", "ckb", "AR", "ar-EG", "ara", "dv")],
        *[(code, "ltr") for code in ("en", "de", "zh", "hi", "th", "ru", "zh-Hant-TW", "arn")],
        ("az-Arab", "rtl"),
        ("pa-Arab-PK", "rtl"),
        ("ur-Latn", "ltr"),
        ("he-latn-IL", "ltr"),
        *[(unknown, "auto") for unknown in (None, "", "und", "Arabic language", "a", '"ar"')],
    ],
)
def test_the_direction_goes_by_script_and_language(language: str | None, direction: str) -> None:
    assert text_direction(language) == direction
    assert direction in DIRECTIONS
