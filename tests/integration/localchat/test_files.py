"""Files of both sides: upload, albums, download, the 20 MB that getFile gives."""

import io
import struct
import zlib
from pathlib import Path

import aiohttp
import pytest
from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import BufferedInputFile, Message

from tests.servers.person import PRIVATE, Person

MB = 1024 * 1024


def png(width: int, height: int) -> bytes:
    """A black picture."""

    def part(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", rows) + part(b"IEND", b"")


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


async def received(bot: Bot) -> list[Message]:
    return [update.message for update in await bot.get_updates() if update.message]


async def test_a_document_reaches_the_bot_with_its_name_and_bytes(bot: Bot, you: Person, tmp_path: Path) -> None:
    await you.send_file(write(tmp_path, "Договор аренды.docx", b"content"), "мой договор")
    (message,) = await received(bot)
    assert message.document
    assert (message.document.file_name, message.caption) == ("Договор аренды.docx", "мой договор")
    assert message.document.mime_type.endswith("wordprocessingml.document") if message.document.mime_type else False
    content = await bot.download(message.document)
    assert content
    assert content.read() == b"content"


async def test_several_files_are_an_album(bot: Bot, you: Person, tmp_path: Path) -> None:
    await you.send_files([write(tmp_path, "1.txt", b"1"), write(tmp_path, "2.txt", b"2")], "оба")
    first, second = await received(bot)
    assert first.media_group_id
    assert first.media_group_id == second.media_group_id
    assert (first.caption, second.caption) == ("оба", None)


async def test_a_large_file_is_taken_but_not_given_to_the_bot(bot: Bot, you: Person, tmp_path: Path) -> None:
    await you.send_file(write(tmp_path, "big.bin", b"\0" * (20 * MB + 1)))
    (message,) = await received(bot)
    assert message.document
    with pytest.raises(TelegramBadRequest, match="file is too big"):
        await bot.get_file(message.document.file_id)


async def test_an_upload_over_50_mb_is_refused(own: aiohttp.ClientSession) -> None:
    form = aiohttp.FormData()
    form.add_field("file", io.BytesIO(b"\0" * (52 * MB)), filename="huge.bin")
    async with own.post("/people/1001/uploads", data=form) as answer:
        assert answer.status == 413


async def test_pictures_and_sound_are_sent_by_their_type(bot: Bot, you: Person, tmp_path: Path) -> None:
    picture = write(tmp_path, "scan.png", png(40, 30))
    await you.send_file(picture)
    await you.send_file(picture, as_file=True)
    await you.send_file(write(tmp_path, "voice.ogg", b"OggS"))
    await you.send_file(write(tmp_path, "song.mp3", b"ID3"))
    photo, document, voice, audio = await received(bot)
    assert photo.photo
    assert (photo.photo[-1].width, photo.photo[-1].height) == (40, 30)
    assert document.document
    assert voice.voice
    assert audio.audio


async def test_the_bot_sends_a_document_and_sends_it_again_by_its_id(bot: Bot, you: Person) -> None:
    report = BufferedInputFile(b"a;b\n", "таблица.csv")
    sent = await bot.send_document(PRIVATE, report, caption="<b>Таблица</b>", parse_mode="HTML")
    assert sent.document
    again = await bot.send_document(PRIVATE, sent.document.file_id)
    assert again.document
    assert again.document.file_unique_id == sent.document.file_unique_id
    assert [seen.file_name for seen in await you.messages()] == ["таблица.csv", "таблица.csv"]


async def test_a_photo_must_be_a_picture(bot: Bot) -> None:
    assert (await bot.send_photo(PRIVATE, BufferedInputFile(png(8, 8), "p.png"))).photo
    with pytest.raises(TelegramBadRequest, match="IMAGE_PROCESS_FAILED"):
        await bot.send_photo(PRIVATE, BufferedInputFile(b"no picture", "p.png"))
    with pytest.raises(TelegramBadRequest, match="PHOTO_INVALID_DIMENSIONS"):
        await bot.send_photo(PRIVATE, BufferedInputFile(png(300, 2), "p.png"))


async def test_empty_and_unknown_files_are_refused(bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest, match="file must be non-empty"):
        await bot.send_document(PRIVATE, BufferedInputFile(b"", "empty.txt"))
    with pytest.raises(TelegramBadRequest, match="wrong remote file identifier"):
        await bot.send_document(PRIVATE, "BQAC-nothing")
    with pytest.raises(TelegramBadRequest, match="invalid file_id"):
        await bot.get_file("BQAC-nothing")


async def test_a_caption_has_1024_units(bot: Bot) -> None:
    file = BufferedInputFile(b"x", "x.txt")
    with pytest.raises(TelegramBadRequest, match="message caption is too long"):
        await bot.send_document(PRIVATE, file, caption="а" * 1025)


async def test_files_leave_the_page_as_attachments_that_no_browser_runs(
    own: aiohttp.ClientSession, bot: Bot, you: Person, tmp_path: Path
) -> None:
    await you.send_file(write(tmp_path, "evil.html", b"<script>alert(1)</script>"))
    (message,) = await received(bot)
    assert message.document
    async with own.get(f"/files/{message.document.file_id}") as answer:
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
