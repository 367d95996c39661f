"""Pages in a real headless Chromium, opened from files as by a double click."""

import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

import chromium


def pytest_addoption(parser):
    parser.addoption("--screenshots", action="store_true", help="write the pictures of docs/images/page again")


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        # Sizes of text and lines are the same on every machine.
        options = ["--font-render-hinting=none", "--force-color-profile=srgb", "--disable-lcd-text"]
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=options)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens a page in a new window; at the end of the test it must have asked for no other file and had no error.

    `visit(path, hash="", live=True, **window)` returns Playwright's page; `window` are arguments of its new_context.
    """
    contexts, problems, expected = [], [], []

    def open_page(path, hash="", *, live=True, tolerate=(), **window):
        usual = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
        context = browser.new_context(**usual | window)
        contexts.append(context)
        expected.extend(tolerate)
        page = context.new_page()
        watch(page, problems)
        page.goto(Path(path).as_uri() + hash)
        if live:
            wait_until_live(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [problem for problem in problems if not any(words in problem for words in expected)] == []


def watch(page, problems):
    """Notes everything that a page of one file must not do."""

    def console(message):
        if message.type in ("error", "warning"):
            problems.append(f"{message.type}: {message.text}")

    def request(asked):
        if not asked.is_navigation_request() and urlsplit(asked.url).scheme not in ("data", "blob"):
            problems.append(f"request: {asked.url}")

    def dialog(shown):
        problems.append(f"dialog: {shown.message}")
        shown.dismiss()

    page.on("console", console)
    page.on("pageerror", lambda error: problems.append(f"exception: {error}"))
    page.on("request", request)
    page.on("dialog", dialog)
    page.add_init_script(
        "addEventListener('securitypolicyviolation', (violation) =>"
        " console.error('policy: ' + violation.violatedDirective + ' ' + violation.blockedURI))"
    )


def wait_until_live(page, seconds=60):
    """Waits until the script has drawn; says what the page says if it has not."""
    # Playwright's own waiting evaluates text in the page, which the policy of the page forbids.
    end = time.monotonic() + seconds
    while not page.evaluate("Boolean(window.silverbirch)"):
        failure = page.locator(".failure")
        assert failure.count() == 0, failure.inner_text()
        assert time.monotonic() < end, f"the page did not start: {page.inner_text('body')[:500]!r}"
        time.sleep(0.02)
