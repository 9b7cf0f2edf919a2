"""Optional packages: the extras of esr, and the error where one of their packages is missing.

A function that needs an optional package calls `require` and imports it, both in its body. All other parts of
esr work without the package.
"""

from __future__ import annotations

from importlib import import_module

from esr.errors import UsageError

MODULES = {
    "enrich": ("spacy", "textblob", "vaderSentiment"),
    "evaluation": ("ir_measures", "scipy"),
    "formats": (
        "backports.zstd",
        "datasketch",
        "feedparser",
        "lxml",
        "pyarrow",
        "trafilatura",
        "warcio",
    ),
    "learn": ("lightgbm",),
    "meaning": ("onnxruntime", "onnxruntime_extensions", "tokenizers"),
    "report": ("matplotlib",),
}
"""By extra, the modules that it brings and esr imports. pyproject.toml says which packages these are."""


def require(purpose: str, *modules: str) -> None:
    """Import optional modules. Raises UsageError if one is missing, with the command that installs it.

    `purpose` is the subject of the message, for instance "the format warc".
    """
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            # trafilatura fails on a part of lxml that is a package of its own since lxml 5.2
            raise missing(purpose, module, error.name) from None


def missing(purpose: str, module: str, part: str | None = None) -> UsageError:
    """The error for an optional module that is not installed, or for a part that the module itself lacks."""
    (extra,) = (
        extra
        for extra, modules in MODULES.items()
        if any(f"{module}.".startswith(f"{optional}.") for optional in modules)
    )
    return UsageError(f"{purpose} needs {part or module}, which is not installed: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'esr[{extra}]'"
