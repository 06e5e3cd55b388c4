"""Pods on their way through releases: a column for each release, and bands between placed, elsewhere and without a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from ....simulation.upgrade.upgradedocument import UpgradeDocument
from .markup import Markup, element, joined, number
from .parts import dot

STATES: Mapping[str, tuple[str, str]] = {
    "same": ("on the first node", "var(--same)"),
    "elsewhere": ("on another node", "var(--near)"),
    "none": ("without a node", "var(--far)"),
}
"""State -> what it is called, and its colour. A pod without a node at first is elsewhere once it has one."""
WIDTH, MOST, BAR, HEIGHT, TOP, GAP = 860, 120, 10, 260, 26, 8
"""Pixels: from the first column to the last, from column to column at most, the width of a column, the height of all pods, the room for
names, between two states."""
LEAST = 1.5
"""The height of a band of one pod, that it can be seen."""


@attrs.frozen(repr=False)
class WaysPicture:
    """The picture: *states* has for each release how many pods are in each state, *flows* what goes from one to the next."""

    releases: Sequence[str]
    states: Sequence[Mapping[str, int]]
    flows: Sequence[Mapping[tuple[str, str], int]]

    @classmethod
    def of(cls, document: UpgradeDocument) -> WaysPicture:
        """The picture of *document*; pods that never move stay where the first release puts them."""
        first = document.stages[0]
        ways = [_states(hosts) for hosts in document.ways.values()]
        unplaced = sum(way[0] == "none" for way in ways)
        still = Counter({"same": first.placed - (len(ways) - unplaced), "none": first.unplaced - unplaced})
        states = [Counter(way[at] for way in ways) + still for at in range(len(document.stages))]
        staying = Counter({(state, state): count for state, count in still.items()})
        flows = [Counter((way[at], way[at + 1]) for way in ways) + staying for at in range(len(document.stages) - 1)]
        return cls([stage.release for stage in document.stages], states, flows)

    def html(self) -> Markup:
        """The picture with its legend."""
        width = self._left(len(self.releases) - 1) + BAR + 40
        inside = joined([*self._bands(), *self._columns()], "")
        about = f"pods of {len(self.releases)} releases in three states"
        svg = element(
            "svg", inside, viewBox=f"0 0 {width} {HEIGHT + TOP + 3 * GAP}", style=f"width:{width}px;max-width:none", role="img",
            aria_label=about,
        )  # fmt: skip
        legend = element("ul", *(element("li", dot(colour), name) for name, colour in STATES.values()), class_="legend")
        box = element("div", svg, class_="scroll", tabindex="0", role="group", aria_label="the way")
        return element("figure", legend, box, class_="chart")

    def _left(self, at: int) -> int:
        """Where the column *at* begins."""
        return 20 + at * min(MOST, WIDTH // max(1, len(self.releases) - 1))

    @property
    def _scale(self) -> float:
        return HEIGHT / max(1, sum(self.states[0].values()))

    def _tops(self, at: int) -> dict[str, float]:
        """State -> where it begins in the column *at*."""
        found, top = {}, float(TOP)
        for state in STATES:
            found[state] = top
            top += self.states[at].get(state, 0) * self._scale + GAP
        return found

    def _columns(self) -> Iterator[Markup]:
        for at, release in enumerate(self.releases):
            left = self._left(at)
            yield element("text", release, class_="name", x=f"{left}", y="14", font_size="12", fill="var(--ink)")
            for state, top in self._tops(at).items():
                count = self.states[at].get(state, 0)
                if count:
                    height = max(LEAST, count * self._scale)
                    said = element("title", f"{release}: {number(count)} {STATES[state][0]}")
                    yield element("rect", said, x=f"{left}", y=f"{top:.1f}", width=f"{BAR}", height=f"{height:.1f}", fill=STATES[state][1])

    def _bands(self) -> Iterator[Markup]:
        for at, flows in enumerate(self.flows):
            starts, ends = self._tops(at), self._tops(at + 1)
            left, right = self._left(at) + BAR, self._left(at + 1)
            for before in STATES:
                for after in STATES:
                    count = flows.get((before, after), 0)
                    if not count:
                        continue
                    height = count * self._scale
                    y, z, shown = starts[before], ends[after], max(LEAST, height)
                    starts[before], ends[after] = y + height, z + height
                    middle = (left + right) / 2
                    path = (
                        f"M{left} {y:.1f}C{middle} {y:.1f} {middle} {z:.1f} {right} {z:.1f}V{z + shown:.1f}"
                        f"C{middle} {z + shown:.1f} {middle} {y + shown:.1f} {left} {y + shown:.1f}Z"
                    )
                    opacity = "0.35" if before == after else "0.75"
                    said = element("title", f"{number(count)} from {STATES[before][0]} to {STATES[after][0]}")
                    yield element("path", said, d=path, fill=STATES[after][1], fill_opacity=opacity)


def _states(hosts: Sequence[str | None]) -> list[str]:
    """The state of a pod in each release."""
    return ["none" if host is None else "same" if host == hosts[0] else "elsewhere" for host in hosts]
