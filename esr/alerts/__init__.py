"""Alerts: saved searches whose new matches come by themselves, by mail, webhook or another service."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(name="alerts", commands={"alerts": "esr.alerts.commands.alerts:alerts"})
