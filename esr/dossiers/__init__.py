"""Dossiers: named collections of sentences and documents, kept by a server for the people who share them."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(name="dossiers", commands={"dossier": "esr.dossiers.commands.dossier:dossier"})
