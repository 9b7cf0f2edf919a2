"""The plug-in of esr itself for other programs: the command `esr mcp`."""

from __future__ import annotations

from esr.plugin import Plugin

plugin = Plugin(name="bridges", commands={"mcp": "esr.bridges.mcp:mcp"})
