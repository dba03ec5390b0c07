"""The web chat at `/`: one page over the API, for whoever has a token.

In: a request for a file of `page`. Out: the file, with a policy that lets the page run its own scripts and reach its
own server only. The page holds no secret; it sends the token with each request, like any other program.
"""

from http import HTTPStatus
from mimetypes import guess_type
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse

from api.problems import Problem

FOLDER = Path(__file__).parent / "page"
FILES = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*")}
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}

router = APIRouter(include_in_schema=False)


@router.get("/")
async def show_page() -> FileResponse:
    """The page."""
    return _file("index.html")


@router.get("/page/{name:path}")
async def show_file(name: str) -> FileResponse:
    """A script, a style or a picture of it. Raises Problem 404."""
    return _file(name)


def _file(name: str) -> FileResponse:
    if name not in FILES:
        raise Problem(HTTPStatus.NOT_FOUND)
    return FileResponse(FOLDER / name, media_type=guess_type(name)[0], headers=HEADERS)
