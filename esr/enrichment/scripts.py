"""Whether a text is in the script of a language, so that a model reads no other language's sentences."""

from __future__ import annotations

import re

_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
SCRIPTS = {
    name: re.compile(f"[{letters}]")
    for name, letters in {
        "Chinese": _HAN,
        "Cyrillic": r"\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
        "Greek": r"\u0370-\u03ff\u1f00-\u1fff",
        "Japanese": rf"{_HAN}\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f",
        "Korean": r"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff",
        "Latin": r"\u0000-\u024f\u1e00-\u1eff\ufb00-\ufb06",
    }.items()
}
"""A letter of each script."""


def is_in_script(text: str, script: str | None) -> bool:
    """There are letters, and at least half of them are of this script, or of any if it is None.

    An emoji or a number has no letters.
    """
    if script is None or (script == "Latin" and text.isascii()):
        return any(map(str.isalpha, text))
    letters = "".join(filter(str.isalpha, text))
    return bool(letters) and 2 * len(SCRIPTS[script].findall(letters)) >= len(letters)
