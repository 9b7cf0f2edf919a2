"""The languages that have rules, and how documents name them."""

from __future__ import annotations

import re

_NAMES = {
    "ar": "ara arabic",
    "bg": "bul bulgarian",
    "ca": "cat catalan valencian",
    "cs": "ces cze czech sk slk slo slovak",
    "da": "dan danish",
    "de": "deu ger german gsw bar nds lb ltz",
    "el": "ell gre greek",
    "en": "eng english",
    "es": "spa spanish castilian gl glg galician",
    "fa": "fas per persian farsi",
    "fi": "fin finnish",
    "fr": "fra fre french",
    "hi": "hin hindi mr mar marathi ne nep nepali sa san sanskrit",
    "hu": "hun hungarian",
    "it": "ita italian",
    "ja": "jpn japanese",
    "ko": "kor korean",
    "nl": "nld dut dutch flemish af afr afrikaans",
    "no": "nor norwegian nb nob nn nno",
    "pl": "pol polish",
    "pt": "por portuguese",
    "ro": "ron rum romanian mo moldovan",
    "ru": "rus russian be bel belarusian",
    "sr": "srp scc serbian hr hrv scr croatian bs bos bosnian sh hbs sl slv slovenian",
    "sv": "swe swedish",
    "th": "tha thai lo lao",
    "tr": "tur turkish az aze azerbaijani",
    "uk": "ukr ukrainian",
    "ur": "urd urdu",
    "zh": "zho chi chinese cmn mandarin yue cantonese wuu hak lzh",
}
"""By code, its other codes and names, and close languages whose abbreviations are much the same."""

_CODES = {name: code for code, names in _NAMES.items() for name in (code, *names.split())}
_REGION = re.compile(r"[-_;,/ (]")


def find_language(language: str | None) -> str | None:
    """The rules' code for a document's language: "de" for "de-AT", "deu" and "German". None: no rules."""
    if language is None:
        return None
    return _CODES.get(_REGION.split(language.strip().lower(), maxsplit=1)[0])
