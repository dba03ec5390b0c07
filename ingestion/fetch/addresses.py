"""Decides whether the crawler may connect to an IP address.

In: an address as text. Out: True only for what the whole internet can reach. Pure; unclear cases are refused. Sources:
the IANA special-purpose registries (as Python's `ipaddress` has them), and the list below of ranges that they call
global although they lead inside.
"""

import ipaddress

_NETWORKS = (
    "100.64.0.0/10",  # carrier-grade NAT, RFC 6598; 100.100.100.200 is Alibaba's metadata service
    "168.63.129.16/32",  # Azure's wire server: a public address that answers from inside
    "192.0.0.0/24",  # IETF protocol assignments; 192.0.0.192 is Oracle's metadata service
    "192.31.196.0/24",  # AS112, RFC 7535
    "192.52.193.0/24",  # AMT, RFC 7450
    "192.88.99.0/24",  # 6to4 relays, RFC 7526
    "192.175.48.0/24",  # AS112, RFC 7534
    "::/96",  # IPv4-compatible, RFC 4291
    "::ffff:0:0/96",  # IPv4-mapped
    "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
    "64:ff9b::/96",  # NAT64, RFC 6052
    "64:ff9b:1::/48",  # local NAT64, RFC 8215
    "2001::/23",  # IETF protocol assignments with Teredo, ORCHID and benchmarking
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4: an IPv4 address inside
    "3fff::/20",  # documentation, RFC 9637
    "5f00::/16",  # segment routing, RFC 9602
    "fec0::/10",  # site-local, RFC 3879
)
NEVER = tuple(ipaddress.ip_network(network) for network in _NETWORKS)


def is_public(address: str) -> bool:
    """Whether `address` is a plain unicast address of the public internet. Never raises: nonsense is not public."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.scope_id is not None:
        return False
    if any(parsed in network for network in NEVER if network.version == parsed.version):
        return False
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved or parsed.is_unspecified)
