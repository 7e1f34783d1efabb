"""A real browser without a window: a page, and a script that does to it what a person does."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: .ci/run installs one")

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1440,900", "--dump-dom",
)  # fmt: skip

_DRIVER = """
<script>
(async () => {
  const $ = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const press = (element, key, more = {}) =>
    element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  const type = (element, text) => {
    element.focus();
    element.value = text;
    element.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const pick = (element, value) => {
    element.value = value;
    element.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const said = {};
  try {
    SCRIPT
  } catch (error) {
    said.error = String(error.stack);
  }
  const out = document.createElement("pre");
  out.id = "said";
  out.textContent = JSON.stringify(said);
  document.body.append(out);
})();
</script>
"""


def printed(page: str, folder: Path) -> int:
    """On how many sheets of paper `page` comes out of a printer."""
    file, paper = folder / "page.html", folder / "page.pdf"
    file.write_text(page, encoding="utf-8")
    flags = [flag for flag in _FLAGS if flag != "--dump-dom"]
    command = [str(BROWSER), *flags, f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={paper}", file.as_uri()]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
    return len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))


def drive(page: str, script: str, folder: Path, *, address: str = "", flags: tuple[str, ...] = ()) -> dict[str, Any]:
    """Open `page`, run `script` in it, and give the object `said` that it fills.

    The script has `$`, `all`, `press`, `type` and `pick` to find elements and to do things to them; it runs when the
    page's own script has. `address` is what follows `#` in the page's URL.
    """
    file = folder / "page.html"
    file.write_text(page.replace("</body>", _DRIVER.replace("SCRIPT", script) + "</body>"), encoding="utf-8")
    command = [str(BROWSER), *_FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", f"{file.as_uri()}#{address}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr
    said: dict[str, Any] = json.loads(html.unescape(found[1]))
    assert "error" not in said, said["error"]
    return said
