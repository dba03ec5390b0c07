"""A real browser for the tests of the page.

In: nothing. Out: a headless Chromium of this machine, or a skip that says what to install.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, async_playwright, expect

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # root in a container has no user namespaces
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 20_000  # of `expect`: a browser on a busy machine of two cores needs more than Playwright's 5 s


@asynccontextmanager
async def open_chromium() -> AsyncIterator[Browser]:
    """Skips the test where there is no Chromium."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()
