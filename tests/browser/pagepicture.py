"""The picture of a page in the documentation: the beginning of that of ``simulate`` on ``examples/cluster``.

python tests/browser/pagepicture.py docs/page.png
"""

import os
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kubeclassic.cli import run
from tests import conftest
from tests.browser.chromium import Chromium

WIDTH = 1320
HEIGHT = 1300


def main(file):
    """Write the picture."""
    os.environ["SOURCE_DATE_EPOCH"] = "1577836800"
    words = ["simulate", "examples/cluster", "-o", "html"]
    with tempfile.TemporaryDirectory() as folder, chdir(conftest.ROOT):
        page = Path(folder) / "page.html"
        sys.argv[1:] = words
        run([*words, "--output", str(page)])
        chromium = Chromium()
        with chromium.in_use() as visits:
            shown = visits(page.as_uri(), viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            foot = shown.locator("[data-part=map] .legend-of-use").bounding_box()
            height = HEIGHT if foot is None else min(HEIGHT, int(foot["y"] + foot["height"] + 16))
            shown.screenshot(path=file, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
        chromium.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
