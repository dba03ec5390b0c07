"""What single providers want beyond the common interface.

In: the address of the server. Out: headers and body fields to add; nothing for a server that is not in the list.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

_OPENROUTER = "openrouter.ai"


def extra_headers(base_url: str) -> Mapping[str, str]:
    """OpenRouter names the program in its statistics."""
    return {"X-OpenRouter-Title": "Baza"} if _is_openrouter(base_url) else {}


def extra_schema_fields(base_url: str) -> Mapping[str, object]:
    """Without `require_parameters` OpenRouter may choose a provider that ignores the schema."""
    return {"provider": {"require_parameters": True}} if _is_openrouter(base_url) else {}


def _is_openrouter(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == _OPENROUTER or host.endswith(f".{_OPENROUTER}")
