"""A lab that is served to real browsers, and its page."""

from contextlib import contextmanager

import attrs
import msgspec

from kubeclassic.questions.lab.scenarios import LabState
from tests.apiserver import serving
from tests.support.labbuild import answered, fresh, lab_app

PLACES = """() => {
  const { model } = document.lab, { pods, nodes } = model.plot;
  return pods.flatMap(([pod, , , bound], at) => {
    const host = model.placement.hosts[at];
    return bound < 0 ? [[pod, host < 0 ? null : nodes[host][0], model.placement.messages.get(pod) ?? ""]] : [];
  });
}"""

IDLE = """() => {
  const { busy, waiting } = document.lab.line;
  return !busy && !waiting.length && !document.lab.working;
}"""
"""Whether the page awaits nothing."""

LONELY = "analytics/yearly-report"
"""The pod of the example that finds no node."""
SIZES = [{"width": 390, "height": 844}, {"width": 1400, "height": 900}]


@attrs.frozen(eq=False)
class Running:
    """A lab that is served to real browsers, on a thread of its own."""

    app: object
    url: str

    def state(self, page):
        """The state that the page shows."""
        return msgspec.convert(page.evaluate("document.lab.state"), LabState)

    def shows(self, page):
        """Where the page shows the pods that wait, and the scheduler's message where that is nowhere."""
        return {pod: (node, why) for pod, node, why in page.evaluate(PLACES)}

    def answer(self, page):
        """The lab's answer for the state that the page shows."""
        return answered(self.app.lab, self.state(page))

    def simulated(self, page):
        """The answer of ``simulate`` for that state."""
        return fresh(self.app.lab, self.state(page))


@contextmanager
def running_lab():
    """A lab on the example cluster, while the block runs."""
    app = lab_app()
    with serving(app.gate) as address:
        yield Running(app, f"{address}/token/")
    app.worker.close()


def opened(lab, visit, **options):
    """The lab's page; it may ask the lab and nobody else."""
    page = visit(lab.url, within=(lab.url, "data:"), **options)
    page.wait_for_selector("body[data-state]")
    page.wait_for_function(IDLE)
    return page


def done(page, number):
    """Wait until *page* shows state *number*, and awaits nothing."""
    page.wait_for_selector(f"body[data-state='{number}']")
    page.wait_for_function(IDLE)
