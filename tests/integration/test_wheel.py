"""The installed wheel works like the checkout: everything that is not Python travels with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.homes import fresh_home

__all__ = ["fresh_home"]

ROOT = Path(__file__).parents[2]
BAZA = (sys.executable, "-m", "bot")
WHERE = "import bot, supabase, adapters; print(bot.__file__); print(supabase.__file__); print(adapters.__file__)"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked by pip into a folder of its own; its dependencies are those of this environment."""
    built, target = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("installed")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built), folder=ROOT)
    (wheel,) = built.glob("*.whl")
    _run(sys.executable, "-m", "zipfile", "-e", str(wheel), str(target), folder=built)
    return target


def test_it_hides_no_package_and_is_found_first(installed: Path, tmp_path: Path) -> None:
    ours, library, adapters = _run(sys.executable, "-c", WHERE, folder=tmp_path, path=installed).split()

    assert Path(ours).is_relative_to(installed)
    assert Path(adapters).is_relative_to(installed)
    assert not Path(library).is_relative_to(installed)
    assert library.endswith("__init__.py")


def test_it_migrates_adds_and_answers_far_from_the_checkout(installed: Path, tmp_path: Path, fresh_home: Path) -> None:
    note = tmp_path / "заметка.md"
    note.write_text("# Гараж\n\nКлюч от гаража лежит под третьим кирпичом.\n", encoding="utf-8")

    added = _run(*BAZA, "add", str(note), folder=tmp_path, path=installed, home=fresh_home)
    answer = _run(*BAZA, "ask", "Где ключ от гаража?", folder=tmp_path, path=installed, home=fresh_home)

    assert "✓" in added
    assert "под третьим кирпичом" in answer


def test_the_page_travels_with_it(installed: Path) -> None:
    page = installed / "localchat" / "page"
    assert {path.name for path in page.iterdir()} == {
        path.name for path in (ROOT / "localchat/page").iterdir() if path.name != "__pycache__"
    }


def _run(*command: str, folder: Path, path: Path | None = None, home: Path | None = None) -> str:
    """The command's output. Raises AssertionError with what it said when it failed."""
    ours = {"PYTHONPATH": path, "BAZA_HOME": home}
    environment = {**os.environ, **{name: str(value) for name, value in ours.items() if value}}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout
