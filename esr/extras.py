"""Optional packages: the extras of esr.

A file that needs an optional package declares it with `import_lazily` of `esr/stdlib.py`, and calls
`require` before it uses the package. The rest of esr works without the package.
"""

from __future__ import annotations

from importlib import import_module

from esr.errors import UsageError

MODULES: dict[str, tuple[str, ...]] = {
    "access": ("argon2", "authlib", "requests", "zxcvbn"),
    "alerts": ("apprise",),
    "dataframes": ("pandas", "polars"),
    "desk": ("sqlalchemy",),
    "enrich": ("spacy", "textblob", "vaderSentiment"),
    "evaluation": ("ir_measures", "scipy"),
    "excel": ("defusedxml", "openpyxl", "xlsxwriter"),
    "formats": (
        "backports.zstd",
        "datasketch",
        "feedparser",
        "lxml",
        "pyarrow",
        "trafilatura",
        "warcio",
    ),
    "ir-datasets": ("ir_datasets",),
    "langchain": ("langchain_core",),
    "learn": ("lightgbm",),
    "llama-index": ("llama_index",),
    "mcp": ("mcp", "pydantic"),
    "mediawiki": ("mwparserfromhell",),
    "meaning": ("huggingface_hub", "onnxruntime", "onnxruntime_extensions", "scipy", "tokenizers"),
    "otel": ("opentelemetry.exporter", "opentelemetry.sdk"),
    "pdf": ("pypdfium2",),
    "postgresql": ("psycopg",),
    "pyterrier": ("pyterrier",),
    "report": ("matplotlib",),
    "s3": ("boto3",),
    "web": ("protego",),
    "word": ("docx",),
}
"""The modules of each extra that esr imports. pyproject.toml lists the packages."""


def require(purpose: str, *modules: str) -> None:
    """Import optional modules. Raises UsageError if one is missing, with the command that installs it.

    It is also raised if one needs a library that the system lacks. `purpose` is the subject of the message,
    for instance "the format warc".
    """
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            # trafilatura needs a part of lxml that is a separate package since lxml 5.2.
            raise missing(purpose, module, error.name) from None
        except OSError as error:
            raise UsageError(
                f"{purpose} needs {module}, which cannot be loaded: {error}: install this library "
                "of the system"
            ) from None


def missing(purpose: str, module: str, part: str | None = None) -> UsageError:
    """The error for an optional module that is not installed, or for a missing part of the module."""
    needed = install_command(find_extra(module))
    return UsageError(f"{purpose} needs {part or module}, which is not installed: {needed}")


def find_extra(module: str) -> str:
    """The name of an extra that has an optional module, or a submodule of one; the first of several."""
    return next(
        extra
        for extra, modules in MODULES.items()
        if any(f"{module}.".startswith(f"{optional}.") for optional in modules)
    )


def install_command(*extras: str) -> str:
    """The command that installs extras."""
    return f"pip install 'esr[{','.join(extras)}]'"
