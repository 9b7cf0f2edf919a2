"""Experiments on topics with judgements: runs, measures, tuning, learning, reports; capacity estimates."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="lab",
    commands={
        "capacity": "esr.lab.commands.capacity:capacity",
        "run": "esr.lab.commands.evaluate:run",
        "pool": "esr.lab.commands.evaluate:pool",
        "agreement": "esr.lab.commands.evaluate:agreement",
        "evaluate": "esr.lab.commands.evaluate:evaluate",
        "compare": "esr.lab.commands.evaluate:compare",
        "report": "esr.lab.commands.report:report",
        "reproduce": "esr.lab.commands.reproduce:reproduce",
        "tune": "esr.lab.commands.tune:tune",
        "estimate": "esr.lab.commands.tune:estimate",
        "learn": "esr.lab.commands.tune:learn_command",
        "signals": "esr.lab.commands.tune:signals",
        "import-model": "esr.lab.commands.tune:import_model",
    },
)
