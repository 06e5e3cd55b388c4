"""A newcomer's tasks in the lab, in few clicks; rules that cannot move, new nodes, and whole words."""

import attrs
import pytest

from tests.browser.runninglab import LONELY, SIZES, done, opened

pytestmark = pytest.mark.whole
BROKEN = """() => {
  const broken = [];
  for (const cell of document.querySelectorAll(".reasons td, #scorers .name, #filters .name")) {
    if (!cell.checkVisibility()) continue;
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const word of node.data.matchAll(/[A-Za-z]+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""
"""Words that go on in the next line."""


@attrs.define
class Clicks:
    """The number of clicks."""

    count: int

    def taken(self):
        """The clicks since the last question."""
        found = self.count
        self.count = 0
        return found


def test_no_sliders(lab, visit):
    """Where no file moves a rule the page says so in a sentence, and has no slider, no switch and no
    preset that would."""
    page = opened(lab, visit)
    page.evaluate("document.lab.act({ do: 'release', value: '1.17' })")
    done(page, 1)
    page.click("#filters >> xpath=.. >> summary")
    for one in ("scorers", "filters"):
        assert "1.17 runs its default plugins as they are" in page.inner_text(f"#{one} .fixed")
        assert page.locator(f"#{one} input").count() == 0
    assert "NodeResourcesFit" in page.inner_text("#filters")
    assert page.is_disabled("text=Pack")
    page.evaluate("document.lab.act({ do: 'release', value: '1.18' })")
    done(page, 2)
    assert page.locator("#scorers input[type=range]").count() > 0
    assert page.is_enabled("text=Pack")
    assert page.locator(".fixed").count() == 0


def test_five_tasks(lab, visit):
    """Five tasks one after the other: find why a pod waits, make it fit, see how many more fit, compare two
    releases, save it all."""
    page = opened(lab, visit, viewport=SIZES[1])
    clicks = Clicks(0)

    def click(what):
        clicks.count += 1
        page.click(what)

    assert LONELY in page.inner_text("#why .verdict")
    assert clicks.taken() == 0
    page.wait_for_selector("#why .helps li")
    click("#why .helps li:not(:has-text('until')) >> text=Apply")
    done(page, 1)
    assert lab.answer(page)[LONELY][0] is not None
    assert clicks.taken() == 1
    click("text=How many more of this pod?")
    page.wait_for_selector("#why .help h4")
    assert page.inner_text("#why .help h4").endswith("more fit")
    assert clicks.taken() == 1
    click("text=Pin as A")
    page.wait_for_function("() => document.querySelectorAll('#maps .groups').length === 2")
    clicks.count += 2  # the list of releases is opened, and one is chosen
    page.select_option("#source select >> nth=0", "1.27")
    done(page, 2)
    assert page.inner_text(".between h3").endswith("pods differ")
    assert clicks.taken() == 3
    click("#saves > summary")
    with page.expect_download() as saved:
        click("#saves >> text=Commands that give this placement")
    assert "--release 1.27" in saved.value.path().read_text()
    assert clicks.taken() == 2


@pytest.mark.parametrize("size", SIZES, ids=["390", "1400"])
def test_no_word_is_broken(lab, visit, size):
    """Names of rules go on in the next line where one of their words begins; what helps is not beside a
    column of letters."""
    page = opened(lab, visit, viewport=size)
    page.wait_for_selector("#why .helps li")
    page.evaluate("document.lab.chooseNode('general-a1')")
    page.wait_for_selector("#why .note")
    page.evaluate("for (const one of document.querySelectorAll('.columns details')) one.open = true")
    assert page.evaluate(BROKEN) == []
    assert (
        page.evaluate(
            "Math.min(...[...document.querySelectorAll('.helps code')].map((one) => one.clientWidth))"
        )
        > 200
    )


def test_they_come_and_go(lab, visit):
    """New nodes join what the page shows, in the map and in the list, and after Undo they are gone."""
    page = opened(lab, visit)
    page.evaluate("document.lab.act({ do: 'copy', node: 'gpu-b1', count: 2 })")
    done(page, 1)
    assert page.inner_text("#tab-nodes") == "Nodes (13)"
    assert lab.shows(page) == lab.answer(page)
    page.evaluate("document.lab.act({ do: 'edit', text: 'node gpu-b1-2 unschedulable=true' })")
    done(page, 2)
    latest = page.evaluate("document.lab.model.plot.nodes.at(-1)")
    assert (latest[0], latest[4]) == ("gpu-b1-2", True)
    page.click("#undo")
    done(page, 1)
    page.click("#undo")
    done(page, 0)
    assert page.inner_text("#tab-nodes") == "Nodes (11)"
    assert lab.shows(page) == lab.answer(page)
