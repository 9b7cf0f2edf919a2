"""Selects the articles among WordPress entries: published posts and pages that anyone may read.

Exports (WXR) and the REST interface also contain drafts, revisions, menus, styles, pictures and posts with a
password.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.loaders.format import Skipped

_ARTICLES = ("post", "page")


def check_export(where: str, entry: Mapping[str, Any]) -> Skipped | None:
    """The entry of an export as Skipped, or None if it is to be read. `entry` is as feedparser reads it.

    Entries of other feeds are never skipped.
    """
    return _check(
        where, entry.get("wp_post_type"), entry.get("wp_status"), bool(entry.get("wp_post_password"))
    )


def check_rest(where: str, fields: Mapping[str, Any]) -> Skipped | None:
    """The object of the REST interface as Skipped, or None if it, or any other object, is to be read."""
    content = fields.get("content")
    if not isinstance(content, dict) or "rendered" not in content:
        return None
    return _check(where, fields.get("type"), fields.get("status"), content.get("protected") is True)


def _check(where: str, type: Any, status: Any, has_password: bool) -> Skipped | None:
    if type not in (None, *_ARTICLES):
        reason = "no post or page of WordPress"
    elif status not in (None, "publish"):
        reason = "not published in WordPress"
    elif has_password:
        reason = "protected by a password in WordPress"
    else:
        return None
    return Skipped(where, reason, is_lasting=True)
