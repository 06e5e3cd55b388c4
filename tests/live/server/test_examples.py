"""The examples of `kubeclassic serve`, on its page and in its help, do what they say."""

import re
import shlex

import httpx
import pytest

from kubeclassic.cli import cli
from tests.conftest import ROOT
from tests.live.server.test_serving import serving_program

pytestmark = pytest.mark.whole

PORT = "8888"


def asked(url, line):
    """The answer of the server at *url* to a `curl` line."""
    words = shlex.split(line)[1:]
    address = words[-1]
    assert address.startswith(f"http://127.0.0.1:{PORT}/")
    address = address.replace(f"http://127.0.0.1:{PORT}", url)
    if words[0] != "--json":
        assert len(words) == 1
        return httpx.get(address, timeout=60)
    assert len(words) == 3
    return httpx.post(address, content=words[1], headers={"content-type": "application/json"}, timeout=60)


@pytest.mark.parametrize("place", ["page", "help"])
def test_the_examples_run(place, at_the_root):
    """The server starts as it stands there, on another port, and each call is answered."""
    command = cli.commands["serve"]
    text = (ROOT / "docs" / "live" / "serve.md").read_text() if place == "page" else command.help or ""
    serve, *calls = [
        line.strip() for line in text.splitlines() if re.match(r" *(kubeclassic serve examples|curl )", line)
    ]
    assert len(calls) == 1
    program, name, *arguments = shlex.split(serve)
    assert (program, name, arguments[-2:]) == ("kubeclassic", "serve", ["--port", PORT])
    with serving_program(*arguments[:-2]) as server:
        answers = [asked(server.url, call) for call in calls]
        assert [answer.status_code for answer in answers] == [200]
        assert "gpu-b1" in answers[0].text
