"""How the command starts, in a fresh interpreter."""

import subprocess
import sys

CTRL_C_AT_AN_IMPORT = """
import os, signal, sys

class Pressing:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background ignores it
sys.meta_path.insert(0, Pressing())
from bot.__main__ import main
main()
"""


def test_ctrl_c_while_it_is_being_imported_ends_it_without_a_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", CTRL_C_AT_AN_IMPORT], capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")
