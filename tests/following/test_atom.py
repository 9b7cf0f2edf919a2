"""Feeds of what sources may hold."""

from __future__ import annotations

from xml.etree import ElementTree

from esr.engines.results import SentenceRecord
from esr.following.atom import ATOM, Feed, render_feed


def test_a_feed_is_well_formed_whatever_a_source_holds() -> None:
    bad = "a\x0bb\ufffe\ud800"
    record = SentenceRecord("d.s0", "d", 0, bad, None, None, bad, None, bad, None, bad)
    root = ElementTree.fromstring(render_feed(Feed("urn:x", bad, bad, bad), [record], lambda _: bad))
    links = [link.get("href") for link in root.iter(f"{{{ATOM}}}link")]
    assert links == ["ab"] * 3
    (entry,) = root.iter(f"{{{ATOM}}}entry")
    assert entry.get("{http://www.w3.org/XML/1998/namespace}lang") == "ab"
    assert entry.findtext(f"{{{ATOM}}}content") == "ab"
