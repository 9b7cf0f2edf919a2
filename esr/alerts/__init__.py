"""Alerts: saved searches whose new matches come by themselves, by mail, webhook or another service."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(name="alerts", commands={"alerts": "esr.alerts.commands.alerts:alerts"})

AT_ONCE, HOURLY = "at once", "hourly"
"""The schedules that name no time."""
DEFAULT_ZONE = "UTC"
DEFAULT_SIMILARITY = 0.6
"""The least similarity of an alert by meaning that names none."""
MOST_EXAMPLES = 20
"""Maximum number of sentences that an alert may ask to be similar to."""
PREVIEW_DAYS = 31
