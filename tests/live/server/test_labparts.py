"""The lab over HTTP sends what helps as soon as it is found, and a page that goes away ends the search."""

import asyncio
import json

import attrs
import pytest

from kubeclassic.exceptions import KubeclassicError
from tests.support.labbuild import Searching, lab_app

LONELY = "analytics/yearly-report"
BODY = json.dumps({"question": "explain", "options": {"pod": LONELY, "what_if": True}}).encode()


@attrs.define
class Caller:
    """A page that asks the lab, and may go away after the first part of an answer."""

    lab: object = None
    leaves: bool = False
    status: int = 0
    text: bytes = b""

    async def ask(self):
        """Ask once."""
        app = lab_app()
        came = asyncio.Event()
        sent = [{"type": "http.request", "body": BODY, "more_body": False}]
        app.lab = self.lab or app.lab

        async def receive():
            if sent:
                return sent.pop()
            await came.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            self.status = message.get("status", self.status)
            self.text += message.get("body", b"")
            if self.leaves and message.get("body"):
                came.set()

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/token/ask",
            "query_string": b"",
            "scheme": "http",
            "headers": headers,
        }
        await asyncio.wait_for(
            app.gate({**scope, "asgi": {"version": "3.0", "spec_version": "2.3"}}, receive, send), 30
        )
        assert app.gate.inside == 0
        app.worker.close()

    @property
    def lines(self):
        """The lines that were answered."""
        return [json.loads(line) for line in self.text.splitlines()]


def test_parts_come_first():
    """Each change that helps has a line of its own before the line of the whole answer, in which it is
    too; a node may have become larger still."""
    caller = Caller()
    asyncio.run(caller.ask())
    *parts, answer = caller.lines
    found = [one["part"]["suggestion"] for one in parts if "suggestion" in one["part"]]
    assert caller.status == 200
    assert found
    kinds = [{(one["kind"], one["host"]) for one in each} for each in (found, answer["suggestions"])]
    assert kinds[0] >= kinds[1]
    assert len(answer["told"]) == len(answer["suggestions"])


def test_a_page_that_goes_away():
    """The search ends, and the worker is free."""
    searching = Searching()
    asyncio.run(Caller(searching, leaves=True).ask())
    assert searching.is_ended.wait(10)


@pytest.mark.parametrize(
    "error, trouble",
    [
        (KubeclassicError("pod: expected one that waits"), "pod: expected one that waits"),
        (ValueError("x"), "a defect of kubeclassic; its standard error says more"),
    ],
)
def test_what_fails_on_the_way(error, trouble, capsys):
    """An error after the first part is the last line; a defect is told on standard error, too."""
    caller = Caller(Searching(error))
    asyncio.run(caller.ask())
    assert caller.lines[-1] == {"trouble": trouble}
    assert ("a defect, at ask: ValueError: x" in capsys.readouterr().err) is isinstance(error, ValueError)
