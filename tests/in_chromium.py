"""A page in a real browser: what it asks for, and whether everybody can read it."""

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page

Size = tuple[int, int]
Scheme = Literal["light", "dark"]
DESKTOP, PHONE = (1280, 900), (390, 844)


def opened(browser: Browser, path: Path, size: Size, scheme: Scheme, **options: Any) -> Page:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
    page = context.new_page()
    page.goto(path.as_uri())
    return page


def heard_from(browser: Browser, path: Path) -> list[str]:
    """Open a page and give what it asked for and complained of; a quiet page asks for itself alone."""
    page = browser.new_context().new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: heard.append(dialog.message))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    return heard


def faults_of_access(browser: Browser, path: Path, size: Size, scheme: Scheme) -> list[tuple[str, str]]:
    """Give what axe finds fault with, all details open: its rules, each with the first element at fault."""
    page = opened(browser, path, size, scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 15
    return [(fault["id"], fault["nodes"][0]["html"]) for fault in found["violations"]]
