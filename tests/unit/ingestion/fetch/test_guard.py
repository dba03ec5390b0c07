"""Addresses as written, and as resolved."""

import ipaddress
import ssl
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.download import Downloader, DownloadLimits
from ingestion.fetch.guard import NEVER, AddressGuard, GuardedTransport, is_public
from tests.fakes.ingestion import FakeResolver, UnreachableConnector

PAYLOADS = Path(__file__).parents[5] / "shared/data/ssrf/payload_urls.txt"
PUBLIC = ["93.184.216.34"]
NEEDS_DNS = {  # payloads that name a host of the public internet: only its answers or its redirects can be at fault
    "307.r3dir.me",
    "62epax5fhvj3zzmzigyoe5ipkbn7fysllvges3a.302.r3dir.me",
    "example.com",
    "nicob.net",
    "google.com",
    "help.redacted.com",
    "developers.digitalocean.com",
    "metadata.packet.net",
    "docs.microsoft.com",
}
REFUSED = {FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID}

INSIDE = [
    "0.0.0.0",  # unspecified
    "10.0.0.1",  # private
    "100.64.0.1",  # carrier-grade NAT
    "100.100.100.200",  # Alibaba's metadata
    "127.0.0.1",  # loopback
    "127.255.255.254",
    "168.63.129.16",  # Azure's wire server
    "169.254.169.254",  # link-local: metadata of most clouds
    "169.254.170.2",
    "172.16.0.1",
    "192.0.0.192",  # Oracle's metadata
    "192.0.2.1",  # documentation
    "192.88.99.1",  # 6to4 relay
    "192.168.1.1",
    "198.18.0.1",  # benchmarking
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",  # multicast
    "240.0.0.1",  # reserved
    "255.255.255.255",  # broadcast
    "::",
    "::1",
    "::127.0.0.1",  # IPv4-compatible
    "::ffff:127.0.0.1",  # IPv4-mapped
    "::ffff:8.8.8.8",  # even of a public one: a page's address is never written so
    "::ffff:0:7f00:1",  # IPv4-translated
    "64:ff9b::7f00:1",  # NAT64
    "64:ff9b:1::1",
    "100::1",  # discard
    "2001::1",  # Teredo
    "2001:db8::1",
    "2002:7f00:1::",  # 6to4
    "3fff::1",
    "fc00::1",  # unique local
    "fd00:ec2::254",  # AWS' metadata
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",  # site-local
    "ff02::1",
]


@pytest.fixture(scope="module")
def payloads() -> list[str]:
    """The 103 addresses."""
    if not PAYLOADS.exists():
        pytest.skip(f"{PAYLOADS} is not there")
    return PAYLOADS.read_text().splitlines()


async def _download(address: str, resolver: FakeResolver, folder: Path) -> SourceError:
    guard = AddressGuard(resolve=resolver)
    limits = DownloadLimits(total_s=5, page_bytes=1000)
    no_roots = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading the system's takes 50 ms each time
    async with GuardedTransport(guard, connector=UnreachableConnector(), ssl_context=no_roots) as transport:
        with pytest.raises(SourceError) as caught:
            await Downloader(guard, transport, limits=limits).download(address, folder / "page")
    return caught.value


async def test_no_known_payload_reaches_a_connection_when_names_lead_inside(
    payloads: list[str], tmp_path: Path
) -> None:
    assert len(payloads) == 103
    for address in payloads:
        error = await _download(address, FakeResolver({}, otherwise=["169.254.169.254"]), tmp_path)
        assert error.code in REFUSED, address


async def test_payloads_that_name_no_public_host_are_refused_before_dns_is_asked(
    payloads: list[str], tmp_path: Path
) -> None:
    for address in payloads:
        resolver = FakeResolver({}, otherwise=["10.0.0.1"])
        await _download(address, resolver, tmp_path)
        assert set(resolver.asked) <= NEEDS_DNS, address


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://",
        "//example.org",
        "http://exa mple.org/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/\r\nX: y",
        "http://xn--0/",  # no valid A-label
        "http://example.org:99999/",
        "https://example.org/" + "a" * 5000,
    ],
)
def test_what_is_no_clean_web_address_is_invalid(address: str) -> None:
    with pytest.raises(SourceError) as caught:
        AddressGuard().check_url(address)
    assert caught.value.code is FailureCode.PAGE_ADDRESS_INVALID


@pytest.mark.parametrize(
    "address",
    [
        "http://user:secret@example.org/",  # credentials
        "http://example.org:22/",  # ports of other services
        "http://example.org:6379/",
        "http://127.0.0.1./",  # trailing dot
        "http://127.1/",  # short
        "http://0x7f.0.0.1/",
        "http://127。0。0。1/",  # IDNA dots
        "http://%31%32%37.0.0.1/",  # percent-encoding
        "http://[::1]/",
        "http://[fe80::1%25eth0]/",  # zone id
        "http://printer/",
        "http://router.lan/",
        "http://LOCALHOST/",
        "http://app.localhost./",
        "http://db.internal/",
    ],
)
def test_an_address_that_leads_inside_is_forbidden_as_written(address: str) -> None:
    with pytest.raises(SourceError) as caught:
        AddressGuard().check_url(address)
    assert caught.value.code is FailureCode.PAGE_ADDRESS_FORBIDDEN


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://example.org/a?b=c", "example.org"),
        ("http://EXAMPLE.org:8080/", "example.org"),
        ("https://президент.рф/", "xn--d1abbgf6aiiy.xn--p1ai"),
        ("https://example.org./", "example.org"),
        ("https://8.8.8.8/", "8.8.8.8"),
        ("https://[2606:4700:4700::1111]/", "2606:4700:4700::1111"),
    ],
)
def test_a_public_address_is_admitted_in_one_form(address: str, host: str) -> None:
    assert AddressGuard().check_url(address).raw_host == host.encode()


def test_the_fragment_is_not_sent() -> None:
    assert AddressGuard().check_url("https://example.org/a#b") == httpx.URL("https://example.org/a")


async def test_one_inside_answer_among_public_ones_refuses_the_host() -> None:
    guard = AddressGuard(resolve=FakeResolver({"example.org": [[*PUBLIC, "10.0.0.7"]]}))
    with pytest.raises(SourceError) as caught:
        await guard.addresses("example.org", 443)
    assert caught.value.code is FailureCode.PAGE_ADDRESS_FORBIDDEN


async def test_a_host_without_addresses_is_not_found() -> None:
    with pytest.raises(SourceError) as caught:
        await AddressGuard(resolve=FakeResolver({})).addresses("example.org", 443)
    assert caught.value.code is FailureCode.PAGE_NOT_FOUND_HOST


@pytest.mark.parametrize(
    ("host", "named"),
    [("xn--e1afmkfd.xn--p1ai", "пример.рф"), ("www.xn--e1afmkfd.xn--p1ai", "www.пример.рф"), ("xn--a.ru", "xn--a.ru")],
)
async def test_a_host_that_is_not_found_is_named_in_its_own_letters(host: str, named: str) -> None:
    with pytest.raises(SourceError) as caught:
        await AddressGuard(resolve=FakeResolver({})).addresses(host, 443)
    assert caught.value.params["host"] == named


async def test_an_allowed_host_may_lead_inside() -> None:
    guard = AddressGuard(
        allow_hosts=frozenset({"127.0.0.1:8123"}), resolve=FakeResolver({"127.0.0.1": [["127.0.0.1"]]})
    )
    guard.check_url("http://127.0.0.1:8123/page")
    assert await guard.addresses("127.0.0.1", 8123) == ["127.0.0.1"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:8124/", "http://127.0.0.1/", "http://localhost:8123/"])
def test_the_allowed_host_is_exact(address: str) -> None:
    with pytest.raises(SourceError):
        AddressGuard(allow_hosts=frozenset({"127.0.0.1:8123"})).check_url(address)


@pytest.mark.parametrize("address", INSIDE)
def test_an_inside_address_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a02:6b8::2:242"])
def test_a_public_address_is_admitted(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("text", ["", "example.org", "127.1", "0177.0.0.1", "2130706433", "0x7f000001", "1.1.1.1/32"])
def test_what_is_no_plain_address_is_refused(text: str) -> None:
    assert not is_public(text)


@given(st.sampled_from(NEVER), st.integers(min_value=0))
def test_no_number_of_a_refused_network_is_admitted(
    network: ipaddress.IPv4Network | ipaddress.IPv6Network, offset: int
) -> None:
    assert not is_public(str(network[offset % network.num_addresses]))


@given(st.ip_addresses(v=4))
def test_an_inside_ipv4_address_is_refused_in_every_ipv6_wrapping(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    wrapped = [number, 0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80]
    assert not any(is_public(str(ipaddress.IPv6Address(value))) for value in wrapped)
