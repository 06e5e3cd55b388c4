"""The picture of the lab in the documentation.

    python tests/browser/labpicture.py docs/lab.png

It opens the lab on ``examples/cluster``, moves a weight, asks about a pod that moved, and takes a picture of what is in the window.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from pathlib import Path

import uvicorn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests import conftest  # noqa: F401  # makes the package and its helpers importable
from tests.browser.chromium import Chromium, Visits


def main(file: Path) -> None:
    """Write the picture."""
    from tests.support.labbuild import lab_app

    app, chromium = lab_app(), Chromium()
    with socket.create_server(("127.0.0.1", 0)) as place:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([place])), daemon=True)
        thread.start()
        with chromium.in_use() as visits:
            _take(visits, f"http://127.0.0.1:{place.getsockname()[1]}/token/", file)
        server.should_exit = True
        thread.join(10)
    chromium.stop()
    app.worker.close()


def _take(visits: Visits, url: str, file: Path) -> None:
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
