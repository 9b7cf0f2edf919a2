"""Requests in a media type that the server knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elastic_transport import Transport, TransportApiResponse

_REFUSED = "media_type_header_exception"
_NEWER, _PLAIN = "application/vnd.elasticsearch+", "application/"


class CompatibleTransport(Transport):
    """Asks for answers in the form of the client's version. A server that is older has only its own form.

    It refuses the first request, which is sent once more, and from then on requests name no version.
    """

    _is_older = False

    def perform_request(  # type: ignore[override]
        self, method: str, target: str, *, headers: Mapping[str, str], **options: Any
    ) -> TransportApiResponse:
        if not self._is_older:
            answer = super().perform_request(method, target, headers=headers, **options)
            if answer.meta.status != 400 or _REFUSED not in str(answer.body):
                return answer
            self._is_older = True
        plain = {name: _without_version(value) for name, value in headers.items()}
        return super().perform_request(method, target, headers=plain, **options)


def _without_version(value: str) -> str:
    if not value.startswith(_NEWER):
        return value
    return _PLAIN + value.removeprefix(_NEWER).partition(";")[0]
