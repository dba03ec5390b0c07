"""The connection is pinned to a number, and the certificate is still asked for the name."""

import asyncio
import os
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.download import Downloader, DownloadLimits
from ingestion.fetch.guard import AddressGuard, GuardedTransport
from tests.fakes.ingestion import FakeResolver, LoopbackConnector
from tests.servers.web import Reply, serve_web

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the program openssl")

NAME = "site.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-signed certificate of site.example, in one file."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -addext subjectAltName=DNS:{NAME}"
    subprocess.run([*command.split(), "-keyout", str(path), "-out", f"{path}.crt"], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


def _server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def _download(certificate: Path, host: str, folder: Path, *, trusted: bool = True) -> bytes:
    async with serve_web(ssl_context=_server_context(certificate)) as web:
        web.replies["/"] = Reply(body=b"<html>words")
        return await _download_from(web.port, certificate if trusted else None, host, folder)


async def _download_from(port: int, authority: Path | None, host: str, folder: Path) -> bytes:
    client = ssl.create_default_context(cafile=str(authority)) if authority else ssl.create_default_context()
    guard = AddressGuard(resolve=FakeResolver({}, otherwise=["93.184.216.34"]))
    async with GuardedTransport(guard, connector=LoopbackConnector(port), ssl_context=client) as transport:
        limits = DownloadLimits(total_s=60, page_bytes=1000)
        target = folder / "page"
        await Downloader(guard, transport, limits=limits).download(f"https://{host}/", target)
        return target.read_bytes()


async def test_the_certificate_of_the_name_is_accepted(certificate: Path, tmp_path: Path) -> None:
    assert await _download(certificate, NAME, tmp_path) == b"<html>words"


async def test_the_certificate_of_another_name_is_refused_for_good(certificate: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await _download(certificate, "other.example", tmp_path)
    assert caught.value.code is FailureCode.PAGE_UNREACHABLE


async def test_an_unknown_authority_is_refused_for_good(certificate: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await _download(certificate, NAME, tmp_path, trusted=False)
    assert not isinstance(caught.value, ServiceError)


async def test_what_is_no_tls_after_all_is_the_hosts_trouble(certificate: Path, tmp_path: Path) -> None:
    """Some boxes between us and a host answer in plain text once the connection is made."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        os.write(writer.get_extra_info("socket").fileno(), b"HTTP/1.1 403 Forbidden\r\n\r\n")
        await writer.drain()

    async with await asyncio.start_server(answer, "127.0.0.1", ssl=_server_context(certificate)) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ServiceError) as caught:
            await _download_from(port, certificate, NAME, tmp_path)
    assert caught.value.code is FailureCode.PAGE_UNREACHABLE
