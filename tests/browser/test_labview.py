"""The lab's page: its first view, grey while it works, forms, suggestions, two maps, presets, links."""

import json
from itertools import pairwise

import pytest

from tests.browser.looking import headings, outside, serious_faults
from tests.browser.runninglab import IDLE, LONELY, SIZES, done, opened
from tests.support.labbuild import Searching

pytestmark = pytest.mark.whole
CUT_NUMBERS = """() => [...document.querySelectorAll(".labrows td.n, .labrows th.n")].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getBoundingClientRect().width > cell.clientWidth + 1;
}).map((cell) => cell.textContent)"""
CUT_NAMES = """() => [...document.querySelectorAll(".labrows [data-full]")]
  .filter((one) => one.dataset.full && one.textContent !== one.dataset.full).map((one) => [one.textContent, one.dataset.full])"""


# --- First view ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES, ids=["390", "1400"])
def test_pods_without_a_node(lab, visit, size):
    """The page opens on the pods without a node: the first is chosen, why it waits is there, what would
    help, and whole numbers."""
    page = opened(lab, visit, viewport=size)
    assert page.get_attribute("#tab-pods", "aria-selected") == "true"
    assert page.get_attribute("#list tbody tr.row >> nth=0 >> .link", "data-full") == LONELY
    page.wait_for_selector("#why .helps li")
    assert page.inner_text("#why .verdict").startswith(f"{LONELY} finds no node")
    assert outside(page) == []
    numbers_are_whole(page)


def numbers_are_whole(page):
    """No number of a list is cut; a name is cut in its middle, and a tip has it whole for the pointer and
    for the focus."""
    for tab in ("pods", "changes", "nodes", "pods"):
        page.click(f"#tab-{tab}")
        assert page.evaluate(CUT_NUMBERS) == []
    cut = page.evaluate(CUT_NAMES)
    assert cut
    assert all("…" in text and not text.endswith("…") for text, _ in cut)
    whole = cut[0][1]
    page.hover(f"#list [data-full={json.dumps(whole)}] >> nth=0")
    assert whole in page.inner_text(".tip")
    row = page.locator(f"#list tr.row:has([data-full={json.dumps(whole)}]) .link >> nth=0")
    page.mouse.move(0, 0)
    row.focus()
    assert whole in page.inner_text(".tip")


def test_its_row_is_in_the_window(lab, visit):
    """Without scrolling a wide window is full and has the row of the pod without a node; on a phone
    nothing is before the list."""
    page = opened(lab, visit, viewport=SIZES[1])
    boxes = [
        page.locator(f".columns > .{name}").bounding_box() for name in ("controls", "picture", "reasons")
    ]
    assert boxes[0]["x"] <= 24
    assert boxes[2]["x"] + boxes[2]["width"] >= 1360
    box = page.locator("#list tbody tr.row >> nth=0").bounding_box()
    assert box
    assert box["y"] + box["height"] <= SIZES[1]["height"]
    page.set_viewport_size(SIZES[0])
    tops = [
        page.locator(f"#{name}").bounding_box()["y"] for name in ("lists", "why", "map", "pins", "source")
    ]
    assert tops == sorted(tops)


def test_grey_while_a_step_runs(lab, visit):
    """While a step is under way the headline says so, and headline, map and list are grey; then all is as
    it was."""
    page = opened(lab, visit)
    held = []
    page.route("**/ask", lambda route: route.continue_() if held else held.append(route))
    page.evaluate("void document.lab.act({ do: 'drain', node: 'general-a1' })")
    assert page.inner_text("#verdict") == "working ..."
    assert [page.get_attribute(f"#{name}", "aria-busy") for name in ("outcome", "map", "list")] == [
        "true"
    ] * 3
    assert float(page.evaluate("getComputedStyle(document.getElementById('map')).opacity")) < 1
    held[0].continue_()
    done(page, 1)
    assert page.inner_text("#verdict").endswith("1 is new, 1 is not there any more")
    assert [page.get_attribute(f"#{name}", "aria-busy") for name in ("outcome", "map", "list")] == [
        "false"
    ] * 3


def test_what_is_refused(lab, visit):
    """After a step that is refused the headline is the one that holds."""
    page = opened(lab, visit)
    before = page.inner_text("#verdict")
    page.evaluate("document.lab.act({ do: 'cordon', node: 'nope' })")
    assert page.inner_text("#verdict") == before
    assert page.get_attribute("#map", "aria-busy") == "false"


# --- Help ---------------------------------------------------------------------------------------------------


def test_applied_and_undone(lab, visit):
    """A suggestion applies itself by a click and the pod gets the node that it names; Undo takes it back."""
    page = opened(lab, visit)
    page.wait_for_selector("#why .helps li")
    line = page.locator("#why .helps li:has(button):not(:has-text('until')) >> nth=0")
    host = line.locator("b").inner_text()
    line.locator("button").click()
    done(page, 1)
    assert lab.answer(page)[LONELY] == (host, "")
    assert lab.shows(page) == lab.simulated(page)
    page.click("#undo")
    done(page, 0)
    assert lab.answer(page)[LONELY][0] is None


def test_the_next_question_ends_it(lab, visit):
    """A suggestion appears as soon as it is found; the next choice ends the search, and is answered."""
    page = opened(lab, visit)
    searching = Searching()
    own = lab.app.lab
    page.wait_for_selector("#why .helps li")
    lab.app.lab = searching
    page.click("#why button:has-text('What would help?')")
    page.wait_for_selector("#why .helps li:has-text('A change')")
    lab.app.lab = own
    page.evaluate("document.lab.choosePod('shop/orders-1')")
    page.wait_for_function(IDLE)
    assert searching.is_ended.is_set()
    assert page.locator("#why .helps li:has-text('A change')").count() == 0


def test_which_release(lab, visit):
    """One click shows where each release puts the pod; another goes to one of them, which puts it there."""
    page = opened(lab, visit)
    page.click("#list .link[data-full='shop/mailer-dg6wvxr99x-0']")
    page.wait_for_selector("#why tr.winner")
    page.click("text=Which release changed it?")
    page.wait_for_selector("#why .help tr", timeout=60_000)
    release = page.inner_text("#why .help tr:last-child th").split()[0]
    host = page.inner_text("#why .help tr:last-child td >> nth=0")
    page.click("#why .help tr:last-child button")
    done(page, 1)
    assert lab.state(page).scheduler["release"] == release
    assert lab.answer(page)["shop/mailer-dg6wvxr99x-0"][0] == host


def test_two_maps_and_the_pods_between(lab, visit):
    """After a pin both maps stand side by side, and between them the pods that differ, with both nodes."""
    page = opened(lab, visit, viewport=SIZES[1])
    page.click("text=Pin as A")
    page.wait_for_function("() => document.querySelectorAll('#maps .groups').length === 2")
    page.evaluate("document.lab.act({ do: 'weight', rule: 'MostRequestedPriority', weight: 20 })")
    done(page, 1)
    assert (
        page.inner_text(".between h3")
        == f"{page.evaluate('document.lab.model.difference.total')} pods differ"
    )
    first, between, second = (
        page.locator(one).bounding_box()
        for one in (".maps .side >> nth=0", ".between", ".maps .side >> nth=1")
    )
    assert first
    assert between
    assert second
    assert first["x"] + first["width"] <= between["x"] <= second["x"]
    assert abs(first["y"] - second["y"]) < 4
    assert page.locator(".maps svg.named text:has-text('general-a1')").count() == 2
    assert outside(page) == []


# --- Forms --------------------------------------------------------------------------------------------------


def test_a_pod(lab, visit):
    """Fields of the chosen pod become an edit, whose words stand beside them; nothing that was typed
    elsewhere is lost."""
    page = opened(lab, visit)
    page.fill("#cluster textarea", "half an edit")
    page.click("text=Edit this pod")
    page.fill("input[data-name='requests.memory']", "28Gi")
    page.fill("input[data-name='tolerations']", "nvidia.com/gpu:NoSchedule, dedicated=database:NoSchedule")
    page.fill("input[data-name='topologySpreadConstraints']", "kubernetes.io/hostname:2:ScheduleAnyway")
    words = page.inner_text(".form[aria-label^='Edit pod'] code")
    assert words.startswith(
        f"pod {LONELY} requests.memory=28Gi tolerations+=dedicated=database:NoSchedule 'topologySpread"
    )
    page.click(".form[aria-label^='Edit pod'] button")
    done(page, 1)
    assert lab.state(page).edits == (words,)
    assert lab.shows(page) == lab.simulated(page)
    assert page.input_value("#cluster textarea") == "half an edit"


def test_a_node(lab, visit):
    """Cordon, drain, size, taints and labels of the chosen node are a click or a field away."""
    page = opened(lab, visit)
    page.evaluate("document.lab.chooseNode('general-a2')")
    page.click("text=Edit this node")
    page.fill("input[data-name='allocatable.cpu']", "1")
    page.fill("input[data-name='taints']", "k=v:NoSchedule")
    labels = page.input_value("input[data-name='labels']")
    page.fill("input[data-name='labels']", labels.replace("pool=general", "pool=other"))
    page.click(".form[aria-label^='Edit node'] button")
    done(page, 1)
    assert lab.state(page).edits == (
        "node general-a2 allocatable.cpu=1 taints+=k=v:NoSchedule labels.pool=other",
    )
    page.click("#cluster >> text=Cordon")
    done(page, 2)
    page.evaluate("document.lab.chooseNode('general-a1')")
    page.click("#cluster >> text=Drain")
    done(page, 3)
    assert lab.shows(page) == lab.simulated(page)


def test_what_changes_nothing(lab, visit):
    """An edit that changes nothing is told so at its field, and is no step."""
    page = opened(lab, visit)
    page.fill("#cluster textarea", "node general-a1 unschedulable-")
    page.press("#cluster textarea", "Enter")
    page.wait_for_selector(".fault[data-field=edit]:not([hidden])")
    assert "nothing changed" in page.inner_text(".fault[data-field=edit]")
    assert page.evaluate("document.lab.states.history.length") == 1


def test_presets(lab, visit):
    """Pack fills nodes; 1.16 against today pins the old placement and shows the newest release beside it."""
    page = opened(lab, visit)
    page.get_by_role("button", name="Pack", exact=True).click()
    done(page, 2)
    assert lab.state(page).weights == {"LeastRequestedPriority": 0, "MostRequestedPriority": 10}
    page.click("text=1.16 against today")
    page.wait_for_function("() => document.lab.state.scheduler.release === '1.36'")
    page.wait_for_function(IDLE)
    assert page.evaluate("document.lab.states.pins.A.state.scheduler.release") == "1.16"
    assert page.locator("#maps .groups").count() == 2
    page.get_by_role("button", name="Spread", exact=True).click()
    page.wait_for_function(
        "() => document.lab.states.loaded[0]?.name === 'spread' && document.lab.state.scheduler.profile"
    )
    assert lab.shows(page) == lab.answer(page)


def test_a_link(lab, visit):
    """The link of a state brings it back, after everything was undone."""
    page = opened(lab, visit)
    weight = {"do": "weight", "rule": "NodeAffinity", "weight": 9}
    for step in ({"do": "release", "value": "1.27"}, weight, {"do": "drain", "node": "general-a1"}):
        page.evaluate("step => document.lab.act(step)", step)
    before = lab.answer(page)
    page.click("#saves > summary")
    page.click("text=Copy a link")
    url = page.url
    page.evaluate("document.lab.act({ do: 'reset' })")
    assert lab.answer(page) != before
    page.goto("about:blank")
    page.goto(url)
    page.wait_for_selector("body[data-state='5']")
    assert lab.shows(page) == before


@pytest.mark.parametrize("size, scheme", [(SIZES[0], "light"), (SIZES[1], "dark")], ids=["390", "1400"])
def test_for_everybody(lab, visit, size, scheme):
    """With every part open axe-core finds no serious fault, nothing is cut off, and headings go down one
    level at a time."""
    page = opened(lab, visit, viewport=size, color_scheme=scheme)
    page.click(".tour summary")
    assert page.locator(".tour li").count() == 4
    page.evaluate("document.lab.chooseNode('general-a1')")
    page.click("text=Pin as A")
    page.evaluate("document.lab.act({ do: 'weight', rule: 'MostRequestedPriority', weight: 20 })")
    done(page, 1)
    for one in ("Edit this pod", "Edit this node"):
        page.click(f"text={one}")
    page.wait_for_selector("#why .helps li")
    page.evaluate("for (const one of document.querySelectorAll('.columns details')) one.open = true")
    page.wait_for_function(IDLE)  # what is under way is grey
    assert serious_faults(page) == []
    assert outside(page) == []
    levels = [level for level, _ in headings(page)]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
