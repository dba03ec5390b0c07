"""Each kind of child process under hostile code: every act is refused, whoever started us, with and without namespaces.

In: `trying`, run as root and as a user. Out: assertions that nothing came of any act. Linux with Landlock and seccomp.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import kernel
from tests.integration.sandbox.hostile import ACTS, BECOMING, REFUSED
from tests.integration.sandbox.trying import KINDS, SECRET

ROOT = Path(__file__).parents[3]
OPEN_ROOT = """
mount --bind {prefix} {aside} && mount -t tmpfs -o mode=755 none /root && mkdir -p {prefix}
mount --bind {aside} {prefix}
exec "$@"
"""
"""In a mount namespace of its own, where root's home, which may hold Python, can be passed through by anybody."""
TRYING = (sys.executable, "-m", "tests.integration.sandbox.trying")
CONFINED = sorted(KINDS.keys() - {"unconfined"}, key=lambda kind: (kind == "tesseract", kind))
"""All in one process, which takes as long to start as three of them take; the last changes its working folder."""
AS_USER = ("setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups")

pytestmark = [
    pytest.mark.skipif(not kernel.abi(), reason="this kernel has no Landlock"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as two accounts: run the tests as root"),
]


def _command(namespaces: str, account: str, folder: Path) -> list[str]:
    run = [*TRYING, namespaces, *CONFINED]
    (aside := folder / "aside").mkdir()
    script = OPEN_ROOT.format(prefix=sys.base_prefix, aside=aside)
    return ["unshare", "--mount", "sh", "-ec", script, "sh", *(AS_USER if account == "user" else ()), *run]


def _outcomes(command: list[str]) -> dict[str, dict[str, str]]:
    """Of each kind, what was not refused."""
    run = subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], SECRET: "54321:a-canary", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    outcomes = json.loads(run.stdout.splitlines()[-1])
    assert [kind for kind, came in outcomes.items() if ACTS.keys() - {BECOMING} - came.keys()] == []
    return {
        kind: {act: came for act, came in acts.items() if not came.startswith(REFUSED)}
        for kind, acts in outcomes.items()
    }


def test_unconfined_code_does_all_of_it() -> None:
    done = _outcomes([*TRYING, "with", "unconfined"])
    assert ACTS.keys() - done["unconfined"].keys() == {BECOMING}


@pytest.mark.parametrize("account", ["root", "user"])
@pytest.mark.parametrize("namespaces", ["with", "without"])
def test_nothing_comes_of_hostile_code(namespaces: str, account: str, tmp_path: Path) -> None:
    assert shutil.which("setpriv"), "apt-get install util-linux"
    assert _outcomes(_command(namespaces, account, tmp_path)) == {kind: {} for kind in CONFINED}
