"""Which addresses may be connected to: the verdict on each, and the process of yt-dlp held to it."""

import ipaddress
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.fetch.addresses import NEVER, Forbidden, check_address, check_program, is_public

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
TEST_HOST = frozenset({"127.0.0.1:8000"})


TRY = """
import socket, subprocess, urllib.request
from ingestion.fetch.addresses import Forbidden, guard_process

guard_process(frozenset())
attempts = {
    "connect": lambda: socket.create_connection(("127.0.0.1", 80), timeout=1),
    "by name": lambda: socket.socket().connect(("localhost", 443)),
    "urllib": lambda: urllib.request.urlopen("http://169.254.169.254/", timeout=1),
    "unix": lambda: socket.socket(socket.AF_UNIX).connect("/run/x"),
    "datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)),
    "program": lambda: subprocess.run(["/bin/true"]),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except OSError as error:
        print(name, "closed" in str(error))
"""


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


@pytest.mark.parametrize(
    "address",
    [
        ("127.0.0.1", 443),
        ("10.0.0.1", 443),
        ("169.254.169.254", 80),
        ("::1", 443, 0, 0),
        ("::ffff:127.0.0.1", 443, 0, 0),
        ("8.8.8.8", 22),
        ("8.8.8.8", 8080),
        ("example.org", 443),  # a name is not a number yet: what it will resolve to cannot be seen
        "/run/docker.sock",
        ("8.8.8.8",),
    ],
)
def test_inside_addresses_and_other_doors_are_closed(address: object) -> None:
    with pytest.raises(Forbidden):
        check_address(address, TEST_HOST)


@pytest.mark.parametrize("address", [("8.8.8.8", 443), ("2a00:1450:4010::1", 443, 0, 0), ("127.0.0.1", 8000)])
def test_the_internet_and_hosts_of_tests_are_open(address: object) -> None:
    check_address(address, TEST_HOST)


@pytest.mark.parametrize("program", ["ffmpeg", "/bin/sh", b"/usr/bin/node", None, ["deno"], "/usr/bin/denoise"])
def test_programs_are_closed(program: object) -> None:
    with pytest.raises(Forbidden):
        check_program(program)


@pytest.mark.parametrize("program", ["deno", "/usr/local/bin/deno", b"/x/deno"])
def test_the_javascript_engine_may_run(program: object) -> None:
    check_program(program)


def test_no_way_leads_round_the_hook() -> None:
    run = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout.splitlines() == [
        "connect True",
        "by name True",
        "urllib True",
        "unix True",
        "datagram True",
        "program True",
    ]


def test_a_library_with_sockets_of_its_own_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "curl_cffi.py").write_text("installed = True")
    guarded = "from ingestion.fetch.addresses import guard_process; guard_process(frozenset()); import curl_cffi"
    for script, is_closed in (("import curl_cffi", False), (guarded, True)):
        command = (sys.executable, "-c", f"import sys; sys.path.append({str(tmp_path)!r}); {script}")
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert ("ModuleNotFoundError" in run.stderr, run.returncode != 0) == (is_closed, is_closed)
