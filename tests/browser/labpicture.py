"""The picture of the lab in the documentation.

    python tests/browser/labpicture.py docs/lab.png

It opens the lab on ``examples/cluster``, moves a weight, asks about a pod that moved, and takes a picture of
what is in the window.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests import conftest  # noqa: F401  # makes the package and its helpers importable
from tests.browser.chromium import Chromium
from tests.browser.runninglab import running_lab


def main(file):
    """Write the picture."""
    chromium = Chromium()
    with running_lab() as lab, chromium.in_use() as visits:
        _take(visits, lab.url, file)
    chromium.stop()


def _take(visits, url, file):
    page = visits(url, within=(url, "data:"), viewport={"width": 1400, "height": 900}, color_scheme="light")
    page.wait_for_selector("body[data-state]")
    page.evaluate("document.lab.act({ do: 'weight', rule: 'MostRequestedPriority', weight: 5 })")
    page.wait_for_selector("body[data-state='1']")
    page.click("#list .labrows .link >> nth=0")
    page.wait_for_selector("#why .matrix")
    page.evaluate("document.lab.chooseNode(document.lab.model.difference.moved[0][1])")
    page.wait_for_selector("#why .note")
    page.wait_for_selector("#why .helps li")
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
