"""The connection is pinned to a number, and the certificate is still asked for the name."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.body import DownloadLimits
from ingestion.fetch.download import Downloader
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.network import GuardedTransport
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


async def _download(certificate: Path, host: str, folder: Path, *, trusted: bool = True) -> bytes:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    client = ssl.create_default_context(cafile=str(certificate)) if trusted else ssl.create_default_context()
    guard = AddressGuard(resolve=FakeResolver({}, otherwise=["93.184.216.34"]))
    async with serve_web(ssl_context=server) as web:
        web.replies["/"] = Reply(body=b"<html>words")
        connector = LoopbackConnector(web.port)
        async with GuardedTransport(guard, connector=connector, ssl_context=client) as transport:
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
