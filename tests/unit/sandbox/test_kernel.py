"""Secrets of the environment are hidden from other processes."""

import subprocess
import sys

SCRIPT = """
import os
from pathlib import Path
from bot.settings import secret_variables
from sandbox.kernel import forget_variables, hide_process
assert {"BOT_TOKEN", "DATABASE_URL"} < secret_variables()
assert "LOG_LEVEL" not in secret_variables()
forget_variables(secret_variables())
print(Path("/proc/self/environ").read_text().replace(chr(0), " "), dict(os.environ))
hide_process()
print(Path("/proc/self").stat().st_uid)
"""


def test_a_token_is_gone_and_the_rest_is_there() -> None:
    environment = {"PATH": "/usr/bin", "BOT_TOKEN": "1:canary", "LLM_API_KEY": "canary", "KEPT": "BOT_TOKEN=1"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=False, timeout=60)
    said, owner = run.stdout.decode().splitlines()
    assert "canary" not in said
    assert "KEPT=BOT_TOKEN=1" in said
    assert "'PATH': '/usr/bin'" in said
    assert owner == "0"  # its files in /proc are root's
