"""A run of tests in several processes, which are forked when everything is imported and collected.

In: `-p tests.forks --processes 6`. Out: what pytest reports of them all, as if it had run them itself. What
pytest-xdist starts imports and collects for itself, 6 to 14 s of processor each. A process takes a piece of a module at
a time, in the order of collection: fixtures of a module are seldom made twice, and the slow tests come first.
"""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

import pytest

PIECE = 12  # tests

_FORK = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=0, help="run the tests in that many forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = session.config.getoption("--processes")
    if not count or session.testsfailed or session.config.option.collectonly:
        return None
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # one for all
    pieces, taken = list(_pieces(session.items)), _FORK.Value("i", 0)
    running = [_Process.forked(session, pieces, taken) for _ in range(count)]
    try:
        ended = _told_by(session, running)
    finally:
        for process in running:
            process.handle.kill()
            process.handle.join()
    for item in session.items:
        if not ended.get(item.nodeid):
            _report_lost(session, item, has_begun=item.nodeid in ended)
    return True


@dataclass(frozen=True, kw_only=True)
class _Process:
    """One that runs tests, and what it tells of them."""

    handle: multiprocessing.process.BaseProcess
    said: Connection

    @classmethod
    def forked(cls, session: pytest.Session, pieces: Sequence[Sequence[pytest.Item]], taken: Any) -> "_Process":
        said, saying = _FORK.Pipe(duplex=False)
        handle = _FORK.Process(target=_work, args=(session, pieces, taken, saying))
        handle.start()
        saying.close()
        return cls(handle=handle, said=said)


def _pieces(items: Sequence[pytest.Item]) -> Iterator[list[pytest.Item]]:
    for _, of_module in groupby(items, key=lambda item: item.path):
        tests = list(of_module)
        yield from (tests[begin : begin + PIECE] for begin in range(0, len(tests), PIECE))


def _told_by(session: pytest.Session, running: Sequence[_Process]) -> dict[str, bool]:
    """Pass on what the processes tell until they have ended. Of each test that was begun: whether it came to an end."""
    ended, speaking = {}, [process.said for process in running]
    while speaking:
        for said in wait(speaking):
            assert isinstance(said, Connection)
            try:
                name, values = said.recv()
            except EOFError:
                speaking.remove(said)
                continue
            _pass_on(session, name, values)
            if "nodeid" in values:
                ended[values["nodeid"]] = name == "pytest_runtest_logfinish"
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
    return ended


def _pass_on(session: pytest.Session, name: str, values: dict[str, Any]) -> None:
    hook = session.config.hook
    if "report" in values:
        values["report"] = hook.pytest_report_from_serializable(config=session.config, data=values["report"])
    getattr(hook, name)(**values)


def _report_lost(session: pytest.Session, item: pytest.Item, *, has_begun: bool) -> None:
    why = "the process died at it" if has_begun else "its turn never came: a process died at another test"
    report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
    session.config.hook.pytest_runtest_logreport(report=report)


def _work(session: pytest.Session, pieces: Sequence[Sequence[pytest.Item]], taken: Any, saying: Connection) -> NoReturn:
    """Of one forked process."""
    manager = session.config.pluginmanager
    capturing: Any = manager.getplugin("capturemanager")
    capturing.stop_global_capturing()  # into a file of the one that forked us
    capturing.start_global_capturing()
    manager.unregister(name="terminalreporter")
    manager.register(_Telling(session.config, saying))
    ahead = _taken(pieces, taken)
    item = next(ahead, None)
    while item is not None:
        following = next(ahead, None)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following
    saying.close()
    os._exit(0)  # nothing of what the first process does at its end


def _taken(pieces: Sequence[Sequence[pytest.Item]], taken: Any) -> Iterator[pytest.Item]:
    while True:
        with taken.get_lock():
            number = taken.value
            taken.value += 1
        if number >= len(pieces):
            return
        yield from pieces[number]


class _Telling:
    """Takes the terminal's place in a forked process."""

    def __init__(self, config: pytest.Config, saying: Connection) -> None:
        self._config = config
        self._saying = saying

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._saying.send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._saying.send(("pytest_runtest_logreport", {"report": data}))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._saying.send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))
