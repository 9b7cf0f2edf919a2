"""The direction of a language's script, and tags of languages."""

from __future__ import annotations

from esr.stdlib import compile_lazily

DIRECTIONS = AUTO, LEFT_TO_RIGHT, RIGHT_TO_LEFT = ("auto", "ltr", "rtl")
"""The values of the HTML attribute `dir`."""
_TAG = compile_lazily(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")
_SCRIPT = compile_lazily(r"-([A-Za-z]{4})(?![A-Za-z0-9])")
_UNKNOWN = frozenset(("mis", "mul", "und", "zxx"))
_RTL_LANGUAGES = (
    "acm aeb apc apd ar ara arb arc ary arz azb bal bgn bqi ckb div dv fa fas glk he heb iw ji kas ks lrc "
    "luz mzn nqo pbu per pes pnb prs ps pus sd skr snd syc syr ug uig ur urd yi yid"
)
"""Languages usually written in Arabic, Hebrew, Syriac, Thaana or N'Ko script, by CLDR."""
_RTL_SCRIPTS = "adlm arab aran hebr mand mend nkoo rohg samr syrc thaa"
_RTL = {"language": frozenset(_RTL_LANGUAGES.split()), "script": frozenset(_RTL_SCRIPTS.split())}


def is_language_tag(tag: str | None) -> bool:
    """Whether this is a well-formed language tag, such as pt-BR."""
    return bool(tag and _TAG.fullmatch(tag))


def text_direction(language: str | None) -> str:
    """One of DIRECTIONS, AUTO for an unknown language. A script in the tag overrides its language."""
    if not is_language_tag(language) or (code := str(language).lower().split("-")[0]) in _UNKNOWN:
        return AUTO
    script = _SCRIPT.search(str(language))
    is_rtl = script[1].lower() in _RTL["script"] if script else code in _RTL["language"]
    return RIGHT_TO_LEFT if is_rtl else LEFT_TO_RIGHT
