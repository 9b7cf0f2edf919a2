"""An example of a plug-in for esr: a model, a format, a feature, a command, a page and an API operation.

esr imports this module to learn the names of the items, so it imports nothing else. Each item is imported
when it is needed.
"""

from esr.plugin import Plugin

plugin = Plugin(
    name="example",
    models={"share": "esr_example.model:SHARE"},
    formats={"wire": "esr_example.wire:WIRE"},
    features={"questions": "esr_example.questions:QUESTIONS"},
    commands={"sources": "esr_example.command:sources"},
    pages={"sources": "esr_example.page:PAGE"},
    operations={"sources": "esr_example.page:OPERATION"},
)
