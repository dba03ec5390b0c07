"""How much memory the embedded server buffers tables in."""

from pathlib import Path

import pytest

from adapters.database.embedded import cluster

GB = 2**30


@pytest.mark.parametrize(("limit", "buffers_mb"), [(GB // 2, 128), (2 * GB, 256), (4 * GB, 512), (16 * GB, 3072)])
def test_a_container_has_a_part_of_its_memory_for_buffers(
    limit: int, buffers_mb: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text(f"{limit}\n", encoding="ascii")
    monkeypatch.setattr(cluster, "_CONTAINER_MEMORY", tmp_path / "memory.max")
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 * GB // 4096}.__getitem__)
    assert cluster.buffers_mb() == buffers_mb


@pytest.mark.parametrize("said", ["max\n", None])
def test_without_a_limit_a_large_machine_gives_eight_gigabytes(
    said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if said:
        (tmp_path / "memory.max").write_text(said, encoding="ascii")
    monkeypatch.setattr(cluster, "_CONTAINER_MEMORY", tmp_path / "memory.max")
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 * GB // 4096}.__getitem__)
    assert cluster.buffers_mb() == 8192
