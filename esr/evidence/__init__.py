"""Evidence: whether something was said, who said it first, and what else is there."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="evidence",
    commands={
        "check": "esr.evidence.commands.check:check",
        "evidence": "esr.evidence.commands.evidence:evidence",
        "reuse": "esr.evidence.commands.reuse:reuse",
    },
)
