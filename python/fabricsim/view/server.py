"""The server of `fabricsim view`: Starlette on uvicorn, on the loopback, for one folder. It reads; what is written are forks that a page asks for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from fabricsim.errors import DamagedError
from fabricsim.report.script import joined
from fabricsim.view.differences import differences
from fabricsim.view.folders import Missing, Watched
from fabricsim.view.forks import Forks, Refused
from fabricsim.view.guard import Guard
from fabricsim.view.pictures import Picture, Pictures
from fabricsim.view.places import Outside, Root

__all__ = ["application", "serve"]

#: Seconds between two looks at a folder that is open in a page, and between two signs of life.
_LOOK_S = 0.5
_ALIVE_S = 15.0
#: Windows of a run that one answer has.
_MOST_WINDOWS = 64
#: Runs that one message tells; more are fetched as a whole.
_MOST_TOLD = 500
#: Where a fork is begun.
_BEGIN = "/api/fork"


def _script() -> str:
    return joined(["view/js/page.js"], 'modules["view/js/page.js"].start();')


class _Folders:
    """The folders that pages have asked for."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.known: dict[str, Watched] = {}
        self.lock = asyncio.Lock()
        self.pictures = Pictures()

    async def get(self, name: str) -> tuple[Watched, list[str]]:
        """Return a folder as it is now, and the runs that have changed since anybody asked; raises `Outside`."""
        async with self.lock:
            self.root.place(name)
            watched = self.known.setdefault(name.strip("/"), Watched(self.root, name.strip("/")))
            return watched, await asyncio.to_thread(watched.refresh)

    async def picture(self, request: Request) -> Picture:
        """Return the picture of the run that is asked for; raises `Outside`, `Missing` or `DamagedError`."""
        watched, _ = await self.get(request.query_params.get("folder", ""))
        async with self.lock:
            return await asyncio.to_thread(self.pictures.get, watched, request.query_params.get("run", ""))


def _whole(request: Request, name: str) -> int:
    """Return a whole number that is asked with; raises `Missing`."""
    text = request.query_params.get(name, "")
    try:
        return int(text)
    except ValueError:
        raise Missing(f"{name} is {text!r}, which is no whole number") from None


def application(
    folder: Path, *, token: str, port: int, stopping: Callable[[], bool] = lambda: False, may_fork: bool = True
) -> Guard:
    """Return what answers for a folder.

    Parameters
    ----------
    folder : Path
        What is shown; it need not be there yet.
    token : str
        First part of every path.
    port : int
        That requests have in their `Host`.
    stopping : callable, optional
        Whether the server is about to end: streams end then.
    may_fork : bool, optional
        Whether pages may have runs forked.
    """
    root = Root.of(folder)
    folders = _Folders(root)
    forks = Forks(root)

    async def asset(request: Request) -> Response:
        here = files("fabricsim")
        match request.url.path:
            case "/view.js":
                return Response(_script(), media_type="text/javascript")
            case "/view.css":
                text = (here / "report" / "report.css").read_text(encoding="utf-8")
                return Response(text + (here / "view" / "view.css").read_text(encoding="utf-8"), media_type="text/css")
        return Response((here / "view" / "page.html").read_text(encoding="utf-8"), media_type="text/html")

    async def list_folders(_: Request) -> Response:
        return JSONResponse({"root": root.path.name, "folders": await asyncio.to_thread(root.folders), "may_fork": may_fork})

    async def runs(request: Request) -> Response:
        watched, _ = await folders.get(request.query_params.get("folder", ""))
        return JSONResponse(await asyncio.to_thread(watched.listed))

    async def events(request: Request) -> Response:
        name = request.query_params.get("folder", "")
        await folders.get(name)
        return StreamingResponse(_changes(folders, name, request, stopping), media_type="text/event-stream")

    async def picture(request: Request) -> Response:
        found = await folders.picture(request)
        return JSONResponse(await asyncio.to_thread(found.to_json))

    async def loads(request: Request) -> Response:
        found = await folders.picture(request)
        first, count = _whole(request, "first"), _whole(request, "count")
        content = await asyncio.to_thread(found.loads.packed, first, min(count, _MOST_WINDOWS))
        return Response(content, media_type="application/octet-stream")

    async def link(request: Request) -> Response:
        found = await folders.picture(request)
        router, port = _whole(request, "router"), _whole(request, "port")
        return JSONResponse(await asyncio.to_thread(found.of_link, router, port))

    async def beside(request: Request) -> Response:
        asked = request.query_params
        first, _ = await folders.get(asked.get("folder", ""))
        second, _ = await folders.get(asked.get("folder2", ""))
        sides = ((first, asked.get("run", "")), (second, asked.get("run2", "")))
        return JSONResponse(await asyncio.to_thread(differences, sides))

    async def begin_fork(request: Request) -> Response:
        try:
            told = json.loads(await request.body())
        except ValueError:
            raise Refused("a fork is asked for as JSON") from None
        return JSONResponse(forks.begin(told).to_json())

    async def asked_forks(_: Request) -> Response:
        return JSONResponse([one.to_json() for one in forks.asked])

    async def refused(_: Request, error: Exception) -> Response:
        return PlainTextResponse(f"{error}\n", status_code=400)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await forks.end()

    async def missing(_: Request, error: Exception) -> Response:
        return PlainTextResponse(f"{error}\n", status_code=404)

    async def outside(_: Request, error: Exception) -> Response:
        return PlainTextResponse(f"{error}\n", status_code=403)

    app = Starlette(
        routes=[
            *(Route(path, asset) for path in ("/", "/view.js", "/view.css")),
            Route("/api/folders", list_folders),
            Route("/api/runs", runs),
            Route("/api/events", events),
            Route("/api/picture", picture),
            Route("/api/loads", loads),
            Route("/api/link", link),
            Route("/api/differences", beside),
            Route("/api/forks", asked_forks),
            *([Route(_BEGIN, begin_fork, methods=["POST"])] if may_fork else []),
        ],
        exception_handlers={Outside: outside, Missing: missing, DamagedError: missing, Refused: refused},
        lifespan=lifespan,
    )
    return Guard(app, token=token, port=port, begins=(_BEGIN,) if may_fork else ())


async def _changes(folders: _Folders, name: str, request: Request, stopping: Callable[[], bool]) -> AsyncIterator[str]:
    """Give a message whenever something in a folder has changed: its state, and the runs that are new or gone."""
    told: dict[str, Any] = {}
    known: dict[str, int] | None = None
    silent = 0.0
    while not stopping() and not await request.is_disconnected():
        try:
            watched, _ = await folders.get(name)
        except Outside as error:
            yield f"event: refused\ndata: {json.dumps(str(error))}\n\n"
            return
        state = watched.state()
        now = {key: id(row) for key, row in watched.rows.items()}
        # A page has fetched the whole table before it listens: it fetches again where too much has changed to be told.
        changed = [key for key in now if known is None or known.get(key) != now[key]]
        gone = [key for key in known or () if key not in now]
        if state != told or changed or gone:
            message: dict[str, Any] = {"state": state}
            if known is None or len(changed) > _MOST_TOLD or gone:
                message["again"] = True
            else:
                message["runs"] = [watched.rows[key] for key in changed]
            yield f"data: {json.dumps(message)}\n\n"
            told, silent = state, 0.0
        known = now
        await asyncio.sleep(_LOOK_S)
        silent += _LOOK_S
        if silent >= _ALIVE_S:
            silent = 0.0
            yield ": alive\n\n"


def serve(folder: Path, *, port: int = 0, may_fork: bool = True, ready: Callable[[str], None]) -> None:
    """Serve a folder until Ctrl-C or SIGTERM.

    Parameters
    ----------
    folder : Path
        What is shown.
    port : int
        To listen on; 0 for one that is free.
    may_fork : bool
        Whether pages may have runs forked.
    ready : callable
        Told the address once the server listens.

    Raises
    ------
    OSError
        The port is taken, or may not be used.
    """
    token = secrets.token_urlsafe(24)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(64)
        number = listening.getsockname()[1]
        server: uvicorn.Server
        app = application(folder, token=token, port=number, stopping=lambda: server.should_exit, may_fork=may_fork)
        # No access log: it would show the token.
        config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        ready(f"http://127.0.0.1:{number}/{token}/")
        server.run(sockets=[listening])
