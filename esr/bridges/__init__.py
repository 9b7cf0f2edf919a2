"""Bridges from esr to other programs: assistants, PyTerrier, LangChain and LlamaIndex."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(name="bridges", commands={"mcp": "esr.bridges.mcp:mcp"})
