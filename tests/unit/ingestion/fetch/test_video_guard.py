"""Where the process of yt-dlp may connect and what it may start; the hook itself is tried in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.fetch.video_guard import Forbidden, check_address, check_program

TEST_HOST = frozenset({"127.0.0.1:8000"})

TRY = """
import socket, subprocess, urllib.request
from ingestion.fetch.video_guard import Forbidden, guard_process

guard_process(frozenset())
attempts = {
    "connect": lambda: socket.create_connection(("127.0.0.1", 80), timeout=1),
    "by name": lambda: socket.socket().connect(("localhost", 443)),
    "urllib": lambda: urllib.request.urlopen("http://169.254.169.254/", timeout=1),
    "unix": lambda: socket.socket(socket.AF_UNIX).connect("/run/x"),
    "datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)),
    "program": lambda: subprocess.run(["/bin/true"]),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except OSError as error:
        print(name, "closed" in str(error))
"""


@pytest.mark.parametrize(
    "address",
    [
        ("127.0.0.1", 443),
        ("10.0.0.1", 443),
        ("169.254.169.254", 80),
        ("::1", 443, 0, 0),
        ("::ffff:127.0.0.1", 443, 0, 0),
        ("8.8.8.8", 22),
        ("8.8.8.8", 8080),
        ("example.org", 443),  # a name is not a number yet: what it will resolve to cannot be seen
        "/run/docker.sock",
        ("8.8.8.8",),
    ],
)
def test_inside_addresses_and_other_doors_are_closed(address: object) -> None:
    with pytest.raises(Forbidden):
        check_address(address, TEST_HOST)


@pytest.mark.parametrize("address", [("8.8.8.8", 443), ("2a00:1450:4010::1", 443, 0, 0), ("127.0.0.1", 8000)])
def test_the_internet_and_hosts_of_tests_are_open(address: object) -> None:
    check_address(address, TEST_HOST)


@pytest.mark.parametrize("program", ["ffmpeg", "/bin/sh", b"/usr/bin/node", None, ["deno"], "/usr/bin/denoise"])
def test_programs_are_closed(program: object) -> None:
    with pytest.raises(Forbidden):
        check_program(program)


@pytest.mark.parametrize("program", ["deno", "/usr/local/bin/deno", b"/x/deno"])
def test_the_javascript_engine_may_run(program: object) -> None:
    check_program(program)


def test_no_way_leads_round_the_hook() -> None:
    run = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout.splitlines() == [
        "connect True",
        "by name True",
        "urllib True",
        "unix True",
        "datagram True",
        "program True",
    ]


def test_a_library_with_sockets_of_its_own_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "curl_cffi.py").write_text("installed = True")
    guarded = "from ingestion.fetch.video_guard import guard_process; guard_process(frozenset()); import curl_cffi"
    for script, is_closed in (("import curl_cffi", False), (guarded, True)):
        command = (sys.executable, "-c", f"import sys; sys.path.append({str(tmp_path)!r}); {script}")
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert ("ModuleNotFoundError" in run.stderr, run.returncode != 0) == (is_closed, is_closed)
