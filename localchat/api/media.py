"""Files: send by upload or by id, get the path, download; also copyMessage.

In: calls. Out: messages with a file, its path, its bytes. The limits are those of Telegram's own servers.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web

from localchat.api.call import Call, Method, read_formatted, read_room
from localchat.api.messages import post_from_bot
from localchat.checks import bad, check_caption
from localchat.exchange import Exchange
from localchat.records import Attachment, FileKind, FormattedText, Json, StoredFile, file_json

GET_FILE_BYTES = 20 * 1024 * 1024  # core.telegram.org/bots/api#getfile
PHOTO_BYTES = 10 * 1024 * 1024  # core.telegram.org/bots/api#sendphoto
PHOTO_SIDES = 10_000  # width + height at most
PHOTO_RATIO = 20


async def _send(kind: FileKind, call: Call) -> Json:
    """A new message with a file."""
    room = read_room(call)
    formatted = read_formatted(call, text="caption", entities="caption_entities")
    check_caption(formatted)
    file = _read_file(call, kind)
    if kind == "photo":
        _check_photo(file)
    return post_from_bot(call, room, formatted, Attachment(kind=kind, file=file))


def _read_file(call: Call, kind: FileKind) -> StoredFile:
    upload = call.params.upload(kind)
    if upload is not None:
        return _save(call, upload, kind)
    given = call.params.text(kind)
    if not given:
        raise bad(f"there is no {kind} in the request")
    file = call.exchange.files.find(given)
    if file is None:
        raise bad("wrong remote file identifier specified: Wrong string length")
    return file


def _save(call: Call, upload: web.FileField, kind: FileKind) -> StoredFile:
    file = call.exchange.files.save(upload.file, name=upload.filename, mime=upload.content_type, kind=kind)
    if not file.size:
        raise bad("file must be non-empty")
    return file


def _check_photo(file: StoredFile) -> None:
    if not file.width or not file.height:
        raise bad("IMAGE_PROCESS_FAILED")
    if file.size > PHOTO_BYTES:
        raise bad("file is too big")
    ratio = max(file.width, file.height) / min(file.width, file.height)
    if file.width + file.height > PHOTO_SIDES or ratio > PHOTO_RATIO:
        raise bad("PHOTO_INVALID_DIMENSIONS")


async def get_file(call: Call) -> Json:
    """The file's path for the download route."""
    file = call.exchange.files.find(call.params.text("file_id") or "")
    if file is None:
        raise bad("invalid file_id")
    if file.size > GET_FILE_BYTES:
        raise bad("file is too big")
    return {**file_json(file), "file_path": file.path}


async def copy_message(call: Call) -> Json:
    """A new message with the content of another one, in the same chat."""
    room = read_room(call)
    source, number = call.params.whole("from_chat_id"), call.params.whole("message_id")
    original = call.exchange.messages.find(source or 0, number or 0)
    if original is None or original.chat_id != room.chat_id:
        raise bad("message to copy not found")
    formatted = FormattedText(text=original.text, entities=original.entities)
    copied = post_from_bot(call, room, formatted, original.attachment)
    return {"message_id": copied["message_id"]}


def file_route(exchange: Exchange, token: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """GET /file/bot<token>/<path>."""

    async def answer(request: web.Request) -> web.StreamResponse:
        file = exchange.files.find_by_path(request.match_info["path"])
        if request.match_info["token"] != token or file is None or file.size > GET_FILE_BYTES:
            return web.json_response({"ok": False, "error_code": 404, "description": "Not Found"}, status=404)
        return web.FileResponse(exchange.files.location(file), headers={"Content-Type": "application/octet-stream"})

    return answer


METHODS: dict[str, Method] = {
    "sendDocument": partial(_send, "document"),
    "sendPhoto": partial(_send, "photo"),
    "sendAudio": partial(_send, "audio"),
    "sendVoice": partial(_send, "voice"),
    "sendVideo": partial(_send, "video"),
    "getFile": get_file,
    "copyMessage": copy_message,
}
