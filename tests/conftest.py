"""What holds for every test, and for all processes of one run.

A rule is searched for exceptions, not timed: Hypothesis fails an example that takes longer than 0.2 s, and a rule whose
examples take long to make. On a machine that does other things besides, any example may. Each run takes other examples,
a few; `--hypothesis-profile=thorough` takes many.

What collecting makes lives as long as the process: the garbage collector is off until then and never looks at it again,
which takes a third off collecting 6,600 tests. aiogram's models are built at their first use, as the bot has it. The
system's certificates are read once, and not for each client (20 ms).

The folder of a run is named by the first process and removed by it; all others are its children.
"""

import gc
import os
import shutil
import ssl
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bot.serving import built_when_used

gc.disable()
ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment] # only what can be hashed
with built_when_used():
    import aiogram  # noqa: F401

RUN_HOME = "BAZA_TESTS_HOME"

settings.register_profile(
    "baza", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", settings.get_profile("baza"), max_examples=400)
settings.load_profile("baza")


def pytest_configure(config: pytest.Config) -> None:
    """Not pytest's own temporary folder: root's server account cannot enter that one."""
    if not hasattr(config, "workerinput"):
        home = Path(tempfile.mkdtemp(prefix="baza-tests-"))
        home.chmod(0o711)
        os.environ[RUN_HOME] = str(home)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """The workers have ended."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(RUN_HOME), ignore_errors=True)
