"""The routes of the page: each file by its exact name, from memory, so that no path of a request reaches the disk."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from regard.serve.one_file import shell
from regard.serve.page_files import page_files


async def send_file(request: Request) -> Response:
    file = page_files()[request.url.path.removeprefix("/") or "index.html"]
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


async def send_one_file(request: Request) -> Response:
    """The page without answers, which the page fills when a reader saves it."""
    return HTMLResponse(shell())


def page_routes() -> list[Route]:
    names = ["/", *(f"/{name}" for name in page_files() if name != "index.html")]
    return [*(Route(name, send_file, methods=["GET"]) for name in names), Route("/one-file.html", send_one_file)]
