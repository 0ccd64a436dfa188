"""Who may ask: nothing is answered without the token in the address, under another name than this machine's own, or by another method.

Runs are begun by POST alone, which a form of another page cannot send as JSON, and only where the server was told of such paths.

The server listens on the loopback alone. A web page that is open in the same browser can still send it requests, and a name that is
made to lead to 127.0.0.1 can have it read the answers: the first does not know the token, the second comes with its own name as
``Host``.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard"]

#: Names of the loopback, as a browser has them in `Host`.
_OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Guard:
    """Stands before an application: refuses what is not asked from here with the token, and hands on the rest without it.

    Parameters
    ----------
    app : ASGI application
        What answers; it sees the path behind the token.
    token : str
        First part of every path.
    port : int
        That the server listens on.
    begins : collection of str, optional
        Paths at which something may be begun.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int, begins: Collection[str] = ()) -> None:
        self.app = app
        self.token = token
        self.begins = begins
        self.hosts = {f"{name}:{port}" for name in _OWN_NAMES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse and say why."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if (refusal := self._refusal(scope)) is not None:
            await refusal(scope, receive, send_guarded)
            return
        rest = "/" + scope["path"].lstrip("/").partition("/")[2]
        await self.app({**scope, "path": rest, "raw_path": rest.encode(), "root_path": ""}, receive, send_guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        host = Headers(scope=scope).get("host", "")
        if host.lower() not in self.hosts:
            return PlainTextResponse(f"this server is not called {host!r}\n", status_code=421)
        if scope["method"] not in ("GET", "HEAD") and not self._may_begin(scope):
            return PlainTextResponse("nothing can be changed here\n", status_code=405, headers={"allow": "GET, HEAD"})
        if Headers(scope=scope).get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return PlainTextResponse("another page may not ask\n", status_code=403)
        given, slash, _ = scope["path"].lstrip("/").partition("/")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse(
                "open the address that `fabricsim view` prints: its token is missing here\n", status_code=403
            )
        if not slash:
            return PlainTextResponse("", status_code=307, headers={"location": f"/{self.token}/"})
        return None

    def _may_begin(self, scope: Scope) -> bool:
        path = "/" + scope["path"].lstrip("/").partition("/")[2]
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip()
        return scope["method"] == "POST" and path in self.begins and kind == "application/json"
