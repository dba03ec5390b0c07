"""The verdict on single addresses."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.fetch.guard import NEVER, is_public

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
