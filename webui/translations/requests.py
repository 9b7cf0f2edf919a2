"""The language of each request, and messages in templates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from flask import Flask, current_app, request
from markupsafe import Markup, escape
from werkzeug.exceptions import NotFound
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from esr.errors import UsageError, unknown
from esr.stdlib import blake2b
from webui.translations.errors import translate_error
from webui.translations.language import (
    DEFAULT,
    LANGUAGES,
    N_,
    Language,
    capitalize,
    choose_language,
    current_language,
    number,
    set_language,
    write_numbers,
)

COOKIE, SECURE_COOKIE = "esr_language", "__Host-esr_language"
"""The cookie that keeps the language a reader has chosen. The name over TLS can be set by this host only."""
_MENU = "choose_language"
ARGUMENT = "lang"
"""The argument of any page's address that chooses a language."""
_COOKIE_SECONDS = 365 * 86_400
_SCRIPT_SECONDS = 3_600
_ADDRESS_BYTES = 8_000


def install(app: Flask, default: str) -> None:
    """Choose the language of each request, and let templates translate. Raises UsageError for a bad default.

    It must be installed before whatever else handles requests.
    """
    if default not in LANGUAGES:
        raise UsageError(f"ESR_LANGUAGE: {unknown('language', default, LANGUAGES)}")
    _install_messages(app)

    @app.before_request
    def choose() -> Response | None:
        """Set the language. An address with the argument is redirected to the same one without it."""
        if request.path.startswith("/api/"):
            set_language(DEFAULT)  # the messages of the API are English
            return None
        chosen = None
        if request.endpoint == _MENU:
            chosen = request.form.get(ARGUMENT)
        elif b"lang=" in request.query_string and request.method in ("GET", "HEAD"):
            chosen = request.args.get(ARGUMENT)
        if chosen in LANGUAGES:
            return _remember(chosen)
        cookie = request.cookies.get(SECURE_COOKIE if request.is_secure else COOKIE)
        set_language(choose_language(cookie, request.accept_languages.best_match, default))
        return None

    @app.post("/language", endpoint=_MENU)
    def choose_in_menu() -> Response:
        """The answer to a choice of no language that there is."""
        raise NotFound

    @app.get("/messages/<name>.js")
    def messages(name: str) -> Response:
        """The messages of scripts in a language other than English."""
        if name not in LANGUAGES:
            raise NotFound
        response = Response(_script(LANGUAGES[name]), mimetype="text/javascript")
        response.cache_control.max_age = _SCRIPT_SECONDS
        return response

    @app.after_request
    def add_headers(response: Response) -> Response:
        if response.mimetype == "text/html":
            response.vary.update(("Accept-Language", "Cookie"))
            response.headers["Content-Language"] = current_language().name
        return response


def _script(language: Language) -> str:
    return f"globalThis.esrMessages = {json.dumps(language.catalogue.scripts, ensure_ascii=False)};\n"


def _script_address() -> str | None:
    """The address of the messages of scripts; None if the language has none. It changes with its content."""
    language = current_language()
    if not language.catalogue.scripts:
        return None
    return f"{request.script_root}/messages/{language.name}.js?v={_script_version(language)}"


@lru_cache(64)
def _script_version(language: Language) -> str:
    return blake2b(_script(language).encode(), digest_size=4).hexdigest()


def _remember(language: str) -> Response:
    """A redirect to the address without its language, which a cookie keeps."""
    pairs = [pair for pair in request.query_string.split(b"&") if not pair.startswith(b"lang=")]
    query = b"&".join(pairs).decode("ascii", "replace")
    if request.endpoint == _MENU:
        address = safe_address(request.args.get("next", ""))
    else:
        address = f"{_quoted_path()}?{query}" if query else _quoted_path()
    response = redirect(address, 303)
    response.set_cookie(
        SECURE_COOKIE if request.is_secure else COOKIE,
        language,
        max_age=_COOKIE_SECONDS,
        path="/" if request.is_secure else request.script_root or "/",
        secure=request.is_secure,
        httponly=True,
        samesite="Lax",
    )
    return response


def _quoted_path() -> str:
    """The path of the request, which is never that of another host."""
    return f"{request.script_root}/{quote(request.path.lstrip('/'))}"


def safe_address(address: str) -> str:
    """The address if it is one of this server, else that of the first page."""
    is_local = address.startswith("/") and not address.startswith("//")
    if is_local and "\\" not in address and address.isprintable():
        return address
    return request.script_root + "/"


# Messages in templates. Jinja calls these also for {% trans %}.


_PLAIN: dict[tuple[str, str, str], Markup] = {}
"""Messages without values as markup, by language and context."""


def _translate(message: str, /, **values: Any) -> Markup:
    return _translate_in("", message, **values)


def _translate_in(context: str, message: str, /, **values: Any) -> Markup:
    language = current_language()
    if values:
        return Markup(language.catalogue.translate(message, context)) % write_numbers(values)  # nosec B704  # ours; values are escaped
    key = (language.name, context, message)
    plain = _PLAIN.get(key)
    if plain is None:  # as many as there are messages in the templates
        plain = _PLAIN[key] = Markup(language.catalogue.translate(message, context)) % {}  # nosec B704  # a message of ours
    return plain


def _translate_number(singular: str, plural: str, amount: int, /, **values: Any) -> Markup:
    translated = current_language().catalogue.translate_number(singular, plural, amount)
    return Markup(translated) % write_numbers({"num": amount, **values})  # nosec B704  # ours; values are escaped


def _translate_text(message: str) -> str:
    """The translation of a text that a table or a variable has. Unlike `_`, it is no markup."""
    return current_language().catalogue.translate(message)


def lower(text: str) -> str:
    """A text in the middle of a sentence: in lower case in English, as it is in other languages."""
    return text.lower() if current_language() is DEFAULT else text


def span(ends: Sequence[str]) -> Markup:
    """Two dates, or one: 3 March 2017 to 5 March 2017."""
    first, last = ends[0], ends[-1]
    return _translate("%(first)s to %(last)s", first=first, last=last) if first != last else escape(first)


def _language_attributes() -> Markup:
    """The attributes of an element in the language of the page, within one in another language."""
    language = current_language()
    return Markup('lang="{}" dir="{}"').format(language.name, language.direction)


def _install_messages(app: Flask) -> None:
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.newstyle_gettext = True  # type: ignore[attr-defined]
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    app.jinja_env.globals.update(
        _=_translate,
        gettext=_translate,
        pgettext=_translate_in,
        ngettext=_translate_number,
        language=current_language,
        languages=list_languages,
        messages_script=_script_address,
        page_language=_language_attributes,
        N_=N_,
        current_address=current_address,
    )
    app.jinja_env.filters.update(
        number=number,
        translated=_translate_text,
        translated_error=translate_error,
        capitalized=capitalize,
        lowered=lower,
        span=span,
    )


def list_languages() -> list[Language]:
    """The languages of the menu."""
    return list(LANGUAGES.values())


def current_address() -> str:
    """The address of the page, to which the menu returns; without its arguments if it is very long.

    It is the first page's where only a form leads to the page.
    """
    if request.method == "POST" and not current_app.url_map.bind("").test(request.path, "GET"):
        return request.script_root + "/"
    query = request.query_string.decode("ascii", "replace")
    has_query = 0 < len(query) <= _ADDRESS_BYTES
    return f"{_quoted_path()}?{query}" if has_query else _quoted_path()
