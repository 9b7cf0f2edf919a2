"""Bridges from esr to other programs: assistants, PyTerrier, LangChain and LlamaIndex."""
