"""Alerts: saved searches whose new matches come by themselves, by mail, webhook or another service."""
