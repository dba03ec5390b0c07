"""The page belongs to who started it: without its token nothing is read or written. Other sites are kept out."""

from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from localchat.server import LocalChat, page_url, serve_local_chat

CHAT = "/people/1001/chats/1001"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/?token="),
        ("GET", "/?token=wrong"),
        ("GET", "/page/js/main.js"),
        ("GET", "/people/1001"),
        ("GET", "/people/1001/events"),
        ("GET", "/files/anything"),
        ("POST", "/people/1001/uploads"),
        ("POST", f"{CHAT}/messages"),
        ("POST", f"{CHAT}/messages/1/press"),
        ("POST", "/control/faults"),
        ("GET", "/nothing"),
    ],
)
async def test_without_the_token_one_is_told_where_the_address_is(chat: LocalChat, method: str, path: str) -> None:
    for cookies in ({}, {f"baza-page-{URL(chat.api_url).port}": "wrong"}):
        async with (
            aiohttp.ClientSession(chat.api_url, cookies=cookies) as session,
            session.request(method, path, json={"text": "чужое"} if method == "POST" else None) as answer,
        ):
            assert answer.status == 403
            assert "`baza page`" in await answer.text()


async def test_the_printed_address_gives_a_cookie_that_no_script_and_no_other_site_gets(chat: LocalChat) -> None:
    async with aiohttp.ClientSession() as session, session.get(chat.page_url, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


async def test_the_address_outlives_a_restart_and_its_secrets_are_for_their_owner(tmp_path: Path) -> None:
    async with serve_local_chat(tmp_path / "chat") as first:
        before = URL(first.page_url)
    async with serve_local_chat(tmp_path / "chat") as again:
        assert URL(again.page_url).query == before.query
    assert page_url(tmp_path / "chat", before.port or 0) == str(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "chat").glob("*token*")}
    assert modes == {"token": 0o600, "page_token": 0o600}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},  # a name that resolves to this machine
        {"Host": "127.0.0.1:1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_other_sites_are_kept_out(own: aiohttp.ClientSession, headers: dict[str, str]) -> None:
    async with own.post(f"{CHAT}/messages", json={"text": "чужое"}, headers=headers) as answer:
        assert answer.status == 403
        assert "answers only" in (text := await answer.text()) or "Another site" in text


async def test_the_page_may_load_only_itself(own: aiohttp.ClientSession) -> None:
    async with own.get("/") as answer:
        assert answer.status == 200
        assert "default-src 'none'; script-src 'self'" in answer.headers["Content-Security-Policy"]
        assert "http" not in (await answer.text()).replace("http-equiv", "")


@pytest.mark.parametrize("number", ["x", "1e3", "-", "99999999999999999999", "9" * 5000, "%D9%A1x", "1.5"])
async def test_a_bad_number_in_an_address_or_a_body_is_refused(own: aiohttp.ClientSession, number: str) -> None:
    posts = [
        (f"/people/{number}/language", {"language": "ru"}),
        (f"/people/1001/chats/{number}/messages", {"text": "а"}),
        (f"{CHAT}/messages/{number}", {"text": "а"}),
        (f"{CHAT}/messages/{number}/press", {"row": 0, "column": 0}),
        (f"{CHAT}/drafts/{number}/stop", {}),
        (f"{CHAT}/messages", {"text": "а", "reply_to": number}),
        (f"{CHAT}/messages", {"text": "а", "reply_to": 2**70}),
    ]
    gets = [
        f"/people/{number}",
        f"/people/{number}/events",
        f"/people/1001/chats/{number}/messages",
        f"{CHAT}/messages?limit={number}",
        f"{CHAT}/messages?before={number}",
    ]
    for path, body in posts:
        async with own.post(URL(path, encoded=True), json=body) as answer:
            assert answer.status == 400, path[:80]
    for path in gets:
        async with own.get(URL(path, encoded=True)) as answer:
            assert answer.status == 400, path[:80]


@pytest.mark.parametrize("number", ["x", str(2**70), "9" * 5000])
@pytest.mark.parametrize(
    ("method", "field"),
    [
        ("getUpdates", "offset"),
        ("getUpdates", "limit"),
        ("sendMessage", "chat_id"),
        ("editMessageText", "message_id"),
        ("deleteMessage", "message_id"),
        ("copyMessage", "from_chat_id"),
        ("getChatMember", "user_id"),
        ("sendMessageDraft", "draft_id"),
    ],
)
async def test_a_bad_number_of_a_call_is_refused(chat: LocalChat, method: str, field: str, number: str) -> None:
    call = {"chat_id": "1001", "text": "а", "message_id": "1", "from_chat_id": "1001", field: number}
    url = f"{chat.api_url}/bot{chat.token}/{method}"
    async with aiohttp.ClientSession() as session, session.post(url, data=call) as answer:
        assert answer.status == 400
        assert (await answer.json())["ok"] is False


async def test_only_the_bots_own_token_opens_the_bot_api(own: aiohttp.ClientSession) -> None:
    async with own.get("/bot123:wrong/getMe") as answer:
        assert answer.status == 401


async def test_faults_cannot_be_ordered_from_the_product(tmp_path: Path) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with serve_local_chat(tmp_path) as chat, aiohttp.ClientSession(chat.api_url, cookie_jar=jar) as session:
        await session.get(chat.page_url)
        async with session.post("/control/faults", json={"method": "sendMessage", "error_code": 500}) as answer:
            assert answer.status == 404
