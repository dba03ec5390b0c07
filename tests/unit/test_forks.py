"""What a run in forked processes reports is what the tests did, also of a process that died."""

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
TESTS = {
    "test_fine.py": "def test_one(tmp_path): assert tmp_path.exists()\ndef test_two(): pass\n",
    "test_wrong.py": "def test_wrong():\n    print('said')\n    assert 1 == 2\n",
    "test_deadly.py": "import os\ndef test_deadly(): os._exit(3)\ndef test_next(): pass\n",
}


def test_each_test_is_reported_once_and_none_is_lost(tmp_path: Path) -> None:
    for name, text in TESTS.items():
        (tmp_path / name).write_text(text)
    command = (sys.executable, "-m", "pytest", "-p", "tests.forks", "--processes=3", "-p", "no:cacheprovider")
    run = subprocess.run(
        [*command, f"--rootdir={tmp_path}", "-c", "/dev/null", str(tmp_path)],
        cwd=CHECKOUT,
        env={"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "3 failed, 2 passed" in run.stdout
    assert "assert 1 == 2" in run.stdout
    assert run.stdout.count("\nsaid\n") == 1
    assert " test_deadly __" in run.stdout
    assert run.stdout.count("\nthe process died at it\n") == 1
    assert run.stdout.count("\nits turn never came: ") == 1
