"""The maps of nodes: what pointing, the keyboard, another label and a search tell, on every page that has
one."""

import pytest

from kubeclassic.cli.report.page.clustermap import UseScale
from tests.browser.rendering import ALL, EXAMPLES

WITH_MAPS = [subject for subject in ALL if "map" in subject.parts]
TILED = ("simulate", "compare", "explain")
SMALL_WITH_MAPS = [subject for subject in EXAMPLES if "map" in subject.parts]
tiled = pytest.mark.parametrize(
    "subject", [one for one in SMALL_WITH_MAPS if one.name in TILED], ids=str, scope="module"
)
"""One script draws all maps, here of one and of two sides."""
PLACE = """([node, side]) => {
  const { tile, picture, left, top } = Object.values(kubeclassic.maps)[0].places.get(node)[side];
  if (tile) {
    tile.scrollIntoView({ block: "center" });
    const box = tile.getBoundingClientRect();
    return [box.left + 5, box.top + 5];
  }
  picture.scrollIntoView({ block: "center" });
  const box = picture.getBoundingClientRect(), scale = box.width / picture.viewBox.baseVal.width;
  return [box.left + (left + 5) * scale, box.top + (top + 5) * scale];
}"""
"""Where the square or the tile of a node is in the window."""


def map_data(page):
    """The data of the first map of *page*."""
    return page.evaluate("Object.values(kubeclassic.maps)[0].data")


@pytest.mark.parametrize("subject", WITH_MAPS, ids=str, scope="module")
def test_pointing_tells_a_node(subject, page_file, visit):
    """Pointing at a square tells the name of its node, its use and its pods, on each side of the map."""
    page = visit(page_file.as_uri())
    data = map_data(page)
    told = page.locator("[data-part=map] .told")
    for side in data["drawn"]:
        one = data["sides"][side]
        node = max(range(len(data["nodes"])), key=lambda at: len(one["pods"][at]) if one["pods"] else 0)
        page.mouse.move(*page.evaluate(PLACE, [node, side]))
        text = told.inner_text()
        assert data["nodes"][node] in text
        assert f"{data['resources'][0]} {one['uses'][data['resources'][0]][node] / 10:.1f} %" in text
        pods = one["pods"][node] if one["pods"] else []
        assert not pods or data["names"][pods[0]] in text


@tiled
def test_the_keyboard_goes_from_node_to_node(subject, page_file, visit):
    """Tab reaches the map, and arrow keys tell one node after another, to the last and back to the first."""
    page = visit(page_file.as_uri())
    data = map_data(page)
    told = page.locator("[data-part=map] .told")
    groups = page.locator("[data-part=map] .groups").first
    page.locator("[data-part=map] .bar input").focus()
    page.keyboard.press("Tab")
    assert groups.evaluate("element => element === document.activeElement")
    seen = [told.locator("b").inner_text()]
    for _ in data["nodes"][1:]:
        page.keyboard.press("ArrowRight")
        seen.append(told.locator("b").inner_text())
    assert sorted(seen) == sorted(data["nodes"])
    page.keyboard.press("Home")
    assert told.locator("b").inner_text() == seen[0]
    page.keyboard.press("Tab")
    assert told.locator("b").count() == (1 if len(data["drawn"]) > 1 else 0)


@tiled
def test_a_name_marks_nodes(subject, page_file, visit):
    """A search marks the nodes of that name, and those with a pod of that name, and says how many there
    are."""
    page = visit(page_file.as_uri())
    data = map_data(page)
    told = page.locator("[data-part=map] .told")
    several = f"{len(data['nodes']):,}"
    page.locator("[data-part=map] .bar input").fill(data["nodes"][-1])
    assert told.inner_text().startswith(f"1 of {several} nodes marked: {data['nodes'][-1]}")
    assert page.locator("[data-part=map] .found").count() == len(data["drawn"])
    page.locator("[data-part=map] .bar input").fill("no-such-name")
    assert told.inner_text() == f"0 of {several} nodes marked"


@tiled
def test_another_label_groups_nodes(subject, page_file, visit):
    """Nodes are grouped by each label that is offered, and by none; each time every node is there, on every
    side."""
    page = visit(page_file.as_uri())
    data = map_data(page)
    group = page.get_by_label("Group by")
    for label in group.locator("option").evaluate_all("options => options.map((option) => option.value)"):
        group.select_option(label)
        captions = page.locator("[data-part=map] figcaption").all_inner_texts()
        counts = [int(caption.rpartition(": ")[2].split()[0].replace(",", "")) for caption in captions]
        assert sum(counts) == len(data["nodes"]) * len(data["drawn"])
        assert len(captions) == len(data["drawn"]) * (
            len(set(data["labels"][label]["values"])) if label else 1
        )


@pytest.mark.parametrize("subject", SMALL_WITH_MAPS, ids=str, scope="module")
def test_another_resource_colours_nodes(subject, page_file, visit):
    """Squares and bars of tiles take the colour of the use of the resource that is chosen, over the range
    that occurs."""
    page = visit(page_file.as_uri())
    data = map_data(page)
    choice = page.get_by_label("Colour by the use of")
    for resource in data["resources"] if choice.count() else ():
        choice.select_option(resource)
        uses = [side["uses"].get(resource, [-1] * len(data["nodes"])) for side in data["sides"]]
        scale = UseScale.of(None if share < 0 else share / 1000 for shares in uses for share in shares)
        wanted = {
            scale.css_class(None if share < 0 else share / 1000)
            for side in data["drawn"]
            for share in uses[side]
        }
        drawn = page.locator("[data-part=map] figure path:not(.state), [data-part=map] .tile .track i")
        shown = set(drawn.evaluate_all("all => all.map((one) => one.getAttribute('class'))"))
        assert shown == wanted
        assert resource in page.locator("[data-part=map] .what").inner_text()


@tiled
def test_tiles_name_nodes_and_pods(subject, page_file, visit):
    """Few nodes are tiles with their names and the pods on them; scripts draw them as the page has them
    without."""
    page = visit(page_file.as_uri())
    still = visit(page_file.as_uri(), java_script_enabled=False)
    data = map_data(page)
    last = data["sides"][data["drawn"][-1]]
    tiles = page.locator("[data-part=map] .side").last.locator(".tile")
    assert (
        tiles.count()
        == len(data["nodes"])
        == still.locator("[data-part=map] .side").last.locator(".tile").count()
    )
    for node, name in enumerate(data["nodes"]):
        shown = [
            one.locator("[data-part=map] .side").last.locator(f".tile[data-node='{node}']").inner_text()
            for one in (page, still)
        ]
        assert shown[0] == shown[1]
        text = "".join(shown[0].split())
        assert name in text
        assert all(data["names"][pod].rpartition("/")[2] in text for pod in last["pods"][node][:4])
