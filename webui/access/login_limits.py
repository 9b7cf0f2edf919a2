"""Limits of login attempts: nobody guesses passwords, and nobody locks somebody else out.

Attempts are counted by address, by name, and by both. When a name has been tried too often, from whatever
addresses, each network still has a few attempts for it: those who try somebody's name elsewhere lock nobody
out. A browser in which a person has logged in before has a signed cookie, and its attempts for this person
are counted by that cookie alone. So strangers who share the person's address only lock out browsers that the
person has never used. Attempts with the right password, and refused ones, are not counted.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections.abc import Iterable
from typing import NamedTuple

from flask import g, request
from itsdangerous import BadSignature, URLSafeTimedSerializer
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response as AnyResponse

from webui.running.rate_limit import SlidingWindow, client_key

ATTEMPTS, ATTEMPT_SECONDS, PER_NAME = 30, 300, 3
"""Maximum login attempts from one address, or for one name, and the period in seconds. From one address, or
from one known browser, a name may be tried ATTEMPTS / PER_NAME times."""
RESERVED = 3
"""Attempts that each network has for a name that was tried too often elsewhere."""
_RESERVED_BITS = 48
"""Bits of an IPv6 address that identify a network: providers give a customer many networks of /64."""
KNOWN_SECONDS = 180 * 86_400
"""Seconds for which a browser is known after a login."""
_MOST_KNOWN = 5
"""People of one browser who are remembered."""


_Count = tuple[str, int]
"""What an attempt is counted by, and its cost."""


class KnownPerson(NamedTuple):
    """A person whom a browser is known for, by a digest of the name, and the browser's random number."""

    person: str
    browser: str


class LoginLimits:
    """Counts the attempts of the current request. Workers with the same file `rates` count together."""

    def __init__(self, rates: str, secret: str, is_secure: bool) -> None:
        self._window = SlidingWindow(rates, ATTEMPTS, ATTEMPT_SECONDS)
        self._secret = secret.encode()
        self._serializer = URLSafeTimedSerializer(
            secret, salt="known-browser", signer_kwargs={"digest_method": hashlib.sha256}
        )
        self._is_secure = is_secure
        self._cookie = "__Host-esr-known" if is_secure else "esr-known"

    def count(self, name: str) -> None:
        """Count an attempt for a name. Raises TooManyRequests if there were too many, without counting it."""
        counted: list[_Count] = []
        for choices in self._keys(name):
            for key, cost in choices:
                standing = self._window.hit(key, cost)
                if not standing.retry:
                    counted.append((key, cost))
                    break
            else:
                self._undo(counted)
                raise TooManyRequests(retry_after=math.ceil(standing.retry))
        g.login_counts = counted

    def accept(self, name: str, response: AnyResponse) -> None:
        """Take back the count of the current attempt, which was right, and know the browser from now on."""
        self._undo(g.pop("login_counts", ()))
        person = self._digest(name)
        others = [known for known in self._read_known_people() if known.person != person]
        known = [KnownPerson(person, secrets.token_urlsafe()), *others][:_MOST_KNOWN]
        response.set_cookie(
            self._cookie,
            self._serializer.dumps(known),
            max_age=KNOWN_SECONDS,
            secure=self._is_secure,
            httponly=True,
            samesite="Lax",
        )

    def _keys(self, name: str) -> list[tuple[_Count, ...]]:
        """What an attempt is counted by, and its cost; of each tuple, the first that is not used up counts.

        Keys of different kinds are never equal.
        """
        person = self._digest(name)
        for known in self._read_known_people():
            if known.person == person:
                return [((f"login browser {known.browser}", PER_NAME),)]
        address, network = client_key(request.remote_addr), client_key(request.remote_addr, _RESERVED_BITS)
        return [
            ((f"login pair {address} {name}", PER_NAME),),
            ((f"login address {address}", 1),),
            ((f"login name {name}", 1), (f"login reserve {network} {name}", ATTEMPTS // RESERVED)),
        ]

    def _undo(self, counted: Iterable[_Count]) -> None:
        for key, cost in counted:
            self._window.undo(key, cost)

    def _read_known_people(self) -> list[KnownPerson]:
        """The people whom the browser is known for; none if the cookie is missing, forged or too old."""
        try:
            value = self._serializer.loads(request.cookies.get(self._cookie, ""), max_age=KNOWN_SECONDS)
        except BadSignature:
            return []
        return [KnownPerson(*pair) for pair in value]

    def _digest(self, name: str) -> str:
        """A digest of a name, so that the cookie does not show it."""
        return hmac.new(self._secret, f"known-browser {name}".encode(), hashlib.sha256).hexdigest()[:32]
