"use strict";
// A node as a tile, as cli/report/page/nodetiles.py writes it before scripts run: its name, how full it is, and its pods.
kubeclassic.tiles = (() => {
  const { make, coloured, format } = kubeclassic;
  const SHOWN = 8, TAIL = 8, ROUND = 5, LEAST = 10;

  /** A name of which the middle is left out where there is little room. */
  function cut(name, whole = null) {
    if (name.length <= 2 * TAIL) return make("span", { class: "name", title: whole }, name);
    return make("span", { class: "cut", title: whole ?? name }, make("span", {}, name.slice(0, -TAIL)), make("span", {}, name.slice(-TAIL)));
  }

  /** Each pod with what became of it: those that came first, then those that left. */
  function marked(pods, before) {
    if (!before) return pods.map((pod) => [pod, "stayed"]);
    const earlier = new Set(before), now = new Set(pods), of = (list, mark, keep) => list.filter(keep).map((pod) => [pod, mark]);
    return [...of(pods, "came", (pod) => !earlier.has(pod)), ...of(before, "left", (pod) => !now.has(pod)), ...of(pods, "stayed", (pod) => earlier.has(pod))];
  }

  /** *node*: {row, name, thousandths, use, pods, before, state, colour, note}. */
  function tile(node) {
    const found = marked(node.pods, node.before), share = node.thousandths;
    const bar = make("i", { class: node.use, style: `width:${Math.min(100, Math.max(share, 0) / 10)}%` });
    const lines = found.slice(0, SHOWN).map(([pod, mark]) => make("li", { class: mark }, cut(pod.slice(pod.lastIndexOf("/") + 1), pod)));
    if (found.length > SHOWN) lines.push(make("li", { class: "rest" }, `+ ${format.count(found.length - SHOWN)} more`));
    return make("li", { class: "tile", "data-node": node.row },
      make("div", { class: "head" }, cut(node.name), make("span", { class: "use" }, share < 0 ? "-" : `${(share / 10).toFixed(1)} %`)),
      make("span", { class: "track", "aria-hidden": "true" }, bar),
      node.state ? coloured("span", node.colour, { class: "tag" }, node.state) : null,
      node.note ? make("small", {}, node.note) : null,
      found.length ? make("ol", { class: "pods" }, lines) : null);
  }

  /** The nodes of a group of *map* as tiles; map.places gets them. */
  function draw(map, side, nodes) {
    const { sides, names, colours, follows } = map.data, { uses, pods, states, notes } = sides[side];
    const named = (from, row) => (from[row] || []).map((pod) => names[pod]), told = sides.slice(0, side).filter((one) => one.pods.length);
    const earlier = pods.length && told.length ? told.at(follows ? -1 : 0).pods : null;
    return make("ul", { class: "tiles" }, nodes.map((row) => {
      const thousandths = uses[map.resource]?.[row] ?? -1;
      const made = tile({ row, name: map.data.nodes[row], thousandths, use: map.colourOf(thousandths), pods: named(pods, row), before: earlier && named(earlier, row),
        state: states[row], colour: colours[states[row]] || "var(--line)", note: notes[row] });
      if (map.word) made.classList.add(map.isFound(side, row) ? "found" : "off");
      if (!map.places.has(row)) map.places.set(row, []);
      map.places.get(row)[side] = { tile: made };
      return made;
    }));
  }

  /** The range of the shares that occur, in percent: as cli/report/page/usescale.py has it. */
  function scaleOf(shares) {
    const there = shares.filter((share) => share >= 0), within = there.filter((share) => share > 0 && share <= 1000);
    const ends = within.reduce(([least, most], share) => [Math.min(least, share), Math.max(most, share)], within.length ? [1000, 0] : [0, 1000]);
    const low = Math.min(Math.floor(ends[0] / (10 * ROUND)) * ROUND, 100 - LEAST);
    const high = Math.max(Math.ceil(ends[1] / (10 * ROUND)) * ROUND, low + LEAST);
    return { low, high, nothing: there.includes(0), more: there.some((share) => share > 1000) };
  }

  function nodeAt(event) {
    const found = event.target.closest("[data-node]");
    return found ? Number(found.dataset.node) : undefined;
  }

  return { draw, nodeAt, scaleOf };
})();
