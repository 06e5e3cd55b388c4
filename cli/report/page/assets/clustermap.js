"use strict";
// Nodes as squares, or few as tiles, for the width that there is; pointing or arrow keys tell a node. On a still page colours go over the
// range that occurs, and squares are in order of use; in the lab colours and places stay.
(() => {
  const { make, coloured, options, start, format } = kubeclassic;
  const GAP = 2, SMALLEST = 8, GREATEST = 46, NAMED = 38, NAMED_WIDTH = 118, CAPTION = 28, BETWEEN = 18, FEW = 60, FEW_ROOM = 640, LEVELS = 12, MOST_PODS = 12;
  const SVG = "http://www.w3.org/2000/svg", pen = document.createElement("canvas").getContext("2d");

  function drawn(tag, attributes, text = "") {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  }

  pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  const STEPS = LEVELS - 2, FIXED = { low: 0, high: 100, nothing: false, more: true };
  const box = (left, top, wide, high) => `M${left} ${top}h${wide}v${high}h-${wide}z`;
  const several = (count, noun) => `${format.count(count)} ${count === 1 ? noun : `${noun}s`}`;
  const FRAMES = { came: "pods came", left: "left", both: "both" };
  const frameOf = ({ plus, minus }) => (plus && minus ? "both" : plus ? "came" : minus ? "left" : "there");

  const within = (thousandths, { low, high }) => Math.max(1, Math.ceil(((thousandths - 10 * low) * STEPS) / (10 * (high - low))));
  const level = (thousandths, scale) => (thousandths <= 0 ? 0 : thousandths > 1000 ? STEPS + 1 : within(thousandths, scale));

  /** A name in the room that a square has: what is in its middle is left out. */
  function shortened(name, room) {
    let text = name;
    while (text.length > 4 && pen.measureText(text).width > room) text = `${text.slice(0, text.length / 2 - 1)}…${text.slice(text.length / 2 + 1)}`;
    return text;
  }

  class ClusterMap {
    /** *data* is as cli/report/page/clustermap.py writes it. With *choose*, a click and Enter choose a node: it gets the index. */
    constructor(root, data, choose = null) {
      this.root = root;
      this.choose = choose;
      this.told = root.querySelector(".told");
      this.hint = this.told.textContent;
      this.told.hidden = false;
      this.word = "";
      this.setUpBar();
      this.show(data);
      let width = root.clientWidth;
      new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; this.draw(); } }).observe(root);
    }

    setUpBar() {
      const bar = this.root.querySelector(".bar"), select = (text, change) => {
        const made = make("select", { onchange: () => { change(made.value); this.draw(); } });
        bar.append(make("label", {}, text, made));
        return made;
      };
      this.groupBy = select("Group by", (value) => { this.group = value; });
      this.colourBy = select("Colour by the use of", (value) => { this.resource = value; });
      const find = make("input", { type: "search", oninput: () => { this.word = find.value.toLowerCase(); this.draw(); } });
      bar.append(make("label", { class: "search" }, "Mark nodes or pods by name", find));
      bar.hidden = false;
    }

    /** Shows *data*; what was chosen in the bar stays as far as it is still there. */
    show(data) {
      const labels = Object.keys(data.labels);
      this.data = data;
      if (this.group === undefined || (this.group && !labels.includes(this.group))) this.group = data.groupBy;
      if (!data.resources.includes(this.resource)) this.resource = data.resources[0];
      options(this.groupBy, [["", "nothing"], ...labels.map((label) => [label, label])], this.group);
      options(this.colourBy, data.resources.map((resource) => [resource, resource]), this.resource);
      this.groupBy.parentElement.hidden = !labels.length;
      this.colourBy.parentElement.hidden = data.resources.length < 2;
      this.drawn = data.drawn ?? [...data.sides.keys()];
      const sides = JSON.stringify(data.sides.map((side) => side.title));
      if (this.sides !== sides) this.setUpSides();
      this.sides = sides;
      this.draw();
    }

    setUpSides() {
      this.hosts = this.drawn.map((side) => this.setUpSide(this.data.sides[side].title, side));
      this.root.querySelector(".maps").replaceChildren(...this.hosts.map((host, at) => {
        const { title } = this.data.sides[this.drawn[at]];
        return make("div", { class: "side" }, title ? make("h3", {}, title) : null, host);
      }));
    }

    setUpSide(title, side) {
      const label = `${title || "Nodes"}: arrow keys go from node to node${this.choose ? ", Enter chooses" : ""}`;
      const host = make("div", { class: "groups", tabindex: "0", role: "application", "aria-roledescription": "map of nodes", "aria-label": label });
      const point = (event) => { const node = this.nodeAt(event); if (node !== undefined) this.tell(node, side); };
      host.addEventListener("pointermove", point);
      host.addEventListener("pointerdown", point);
      host.addEventListener("pointerleave", () => { if (document.activeElement !== host) this.leave(); });
      host.addEventListener("focus", () => { if (host.matches(":focus-visible")) this.go(side, this.at ?? 0); });
      host.addEventListener("blur", () => this.leave());
      host.addEventListener("keydown", (event) => this.key(event, side));
      if (this.choose) host.addEventListener("click", (event) => { const node = this.nodeAt(event); if (node !== undefined) this.choose(node); });
      return host;
    }

    // --- places -------------------------------------------------------------------------------------------------------

    groups() {
      const label = this.data.labels[this.group], found = new Map();
      const uses = this.data.sides.at(-1).uses[this.resource] ?? [], nodes = [...this.data.nodes.keys()];
      if (this.data.still && !this.data.tiles) nodes.sort((one, other) => uses[other] - uses[one] || one - other);
      nodes.forEach((node) => {
        const name = label ? label.texts[label.values[node]] : "";
        if (!found.has(name)) found.set(name, []);
        found.get(name).push(node);
      });
      return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
    }

    /** As large as squares can be for the map to be seen at one look. */
    fit(groups) {
      const { length } = this.data.nodes, room = length <= FEW ? FEW_ROOM : Math.max(300, Math.min(560, length)), width = this.hosts[0].clientWidth || 320;
      for (this.size = GREATEST; ; this.size -= this.size > 20 ? 4 : 1) {
        const { size } = this, named = size >= NAMED;
        this.wide = named ? Math.min(NAMED_WIDTH, width) : size;
        const most = Math.max(Math.floor((width + GAP) / (this.wide + GAP)), 1);
        this.across = (count) => Math.min(count, most, groups.length > 1 ? (named ? Math.max(Math.ceil(Math.sqrt(count)), 2) : Math.max(Math.ceil(Math.sqrt(count * 1.8)), 8)) : most);
        if (size <= SMALLEST || this.height(groups, width) <= room) return;
      }
    }

    /** The height of groups side by side, as the browser will set them. */
    height(groups, width) {
      let left = 0, top = 0, tall = 0;
      for (const [name, nodes] of groups) {
        const across = this.across(nodes.length), wide = Math.max(across * (this.wide + GAP), Math.min(8 * (name.length + 10), width));
        if (left && left + wide > width) { top += tall + BETWEEN; left = tall = 0; }
        left += wide + BETWEEN;
        tall = Math.max(tall, CAPTION + Math.ceil(nodes.length / across) * (this.size + GAP));
      }
      return top + tall;
    }

    // --- drawing ------------------------------------------------------------------------------------------------------

    draw() {
      const groups = this.groups(), now = this.order?.[this.at];
      if (!this.data.tiles) this.fit(groups);
      this.scale = this.data.still ? kubeclassic.tiles.scaleOf(this.data.sides.flatMap((side) => side.uses[this.resource] ?? [])) : FIXED;
      this.places = new Map();
      this.order = groups.flatMap(([, nodes]) => nodes);
      this.hosts.forEach((host, at) => host.replaceChildren(...groups.map(([name, nodes]) => this.drawGroup(this.drawn[at], name, nodes))));
      this.drawLegend();
      this.at = now === undefined || !this.order.includes(now) ? undefined : this.order.indexOf(now);
      this.leave();
      const focused = this.hosts.indexOf(document.activeElement);
      if (this.at !== undefined && focused >= 0) this.go(this.drawn[focused], this.at);
    }

    drawGroup(side, name, nodes) {
      const caption = make("figcaption", {}, `${name || (this.group ? `no ${this.group}` : "all")}: ${several(nodes.length, "node")}`);
      return make("figure", {}, caption, this.data.tiles ? kubeclassic.tiles.draw(this, side, nodes) : this.drawSquares(side, nodes));
    }

    colourOf(thousandths) { return thousandths < 0 ? "none" : `u${level(thousandths, this.scale)}`; }

    drawSquares(side, nodes) {
      const across = this.across(nodes.length), beside = this.wide + GAP, step = this.size + GAP;
      const width = beside * across, height = step * Math.ceil(nodes.length / across), named = this.size >= NAMED;
      const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", class: named ? "named" : "" });
      picture.nodes_ = nodes;
      picture.across_ = across;
      nodes.forEach((node, place) => {
        if (!this.places.has(node)) this.places.set(node, []);
        this.places.get(node)[side] = { picture, left: beside * (place % across), top: step * Math.floor(place / across) };
      });
      const drawing = { paths: new Map(), frames: new Map(), marks: new Map(), texts: [], thick: this.size > 20 ? 4 : 2.5 };
      for (const node of nodes) this.square(drawing, side, node);
      for (const [colour, path] of drawing.paths) picture.append(drawn("path", { class: colour, d: path }));
      for (const [kind, path] of drawing.frames) picture.append(drawn("path", { class: kind, d: path, "stroke-width": drawing.thick }));
      for (const [state, path] of drawing.marks) {
        picture.append(drawn("path", { class: "state", d: path }));
        picture.lastChild.style.fill = this.data.colours[state] || "var(--ink)";
      }
      picture.append(...drawing.texts);
      if (nodes.includes(this.data.chosen)) picture.append(this.here(this.places.get(this.data.chosen)[side], "here chosen"));
      return picture;
    }

    /** One node: its square, its state or that it is looked for, a frame where pods came or left, and its name where there is room. */
    square({ paths, frames, marks, texts, thick }, side, node) {
      const { left, top } = this.places.get(node)[side], { size, wide } = this, { uses, states, changes } = this.data.sides[side];
      const share = uses[this.resource]?.[node] ?? -1, use = level(share, this.scale), isFound = this.word !== "" && this.isFound(side, node), off = this.word && !isFound ? " off" : "";
      const add = (where, kind, path) => where.set(kind, (where.get(kind) || "") + path);
      add(paths, this.colourOf(share) + off, box(left, top, wide, size));
      if (isFound) add(frames, "found", size >= NAMED ? box(left + 2, top + 2, wide - 4, size - 4) : box(left, top, wide, size));
      if (states[node] && !off) add(marks, states[node], size >= NAMED ? box(left + wide - 15, top + size - 15, 10, 10) : box(left + size / 4, top + size / 4, size / 2, size / 2));
      const change = off ? undefined : changes?.get(node);
      if (change) add(frames, `frame ${frameOf(change)}`, box(left + thick / 2, top + thick / 2, wide - thick, size - thick));
      if (size < NAMED) return;
      const dark = share >= 0 && use > 5 ? " over" : "";
      texts.push(drawn("text", { x: left + 5, y: top + 16, class: dark + off }, share < 0 ? "-" : `${(share / 10).toFixed(1)} %`));
      texts.push(drawn("text", { x: left + 5, y: top + size - 7, class: dark + off }, shortened(this.data.nodes[node], wide - (states[node] ? 24 : 10))));
      if (change) this.badges(texts, change, left + wide, top);
    }

    badges(texts, { plus, minus }, end, top) {
      let right = end;
      for (const [text, kind] of [[minus && `−${minus}`, "left"], [plus && `+${plus}`, "came"]]) {
        if (!text) continue;
        const width = pen.measureText(text).width + 9;
        right -= width;
        texts.push(drawn("path", { d: box(right, top, width, 18), class: `badge ${kind}` }), drawn("text", { x: right + 4, y: top + 13, class: "over" }, text));
      }
    }

    here({ left, top }, kind = "here") { return drawn("rect", { class: kind, x: left - 1, y: top - 1, width: this.wide + 2, height: this.size + 2 }); }

    drawLegend() {
      const legend = this.root.querySelector(".legend-of-use"), { tiles, sides, colours } = this.data, { low, high, nothing, more } = this.scale;
      const square = (at) => make("span", { class: `u${at}` }), steps = Array.from({ length: STEPS }, (_, at) => square(at + 1));
      const marks = tiles ? [["came", "pod came"], ["left", "pod left"]].filter(([mark]) => this.root.querySelector(`.pods .${mark}`)) : sides.some((side) => side.changes) ? Object.entries(FRAMES) : [];
      const scale = make("span", { class: "scale" }, nothing ? [square(0), "nothing, "] : null, `${low} %`, steps, `${high} %`, more ? [", ", square(STEPS + 1), "over 100 %"] : null);
      legend.replaceChildren(make("span", { class: "what" }, this.resource ? `Colour: the share of ${this.resource} in use. ` : ""), ...(this.resource ? [scale] : []),
        ...Object.entries(colours).map(([state, colour]) => make("span", { class: "state" }, coloured("span", colour, { class: "dot" }), state)),
        ...marks.map(([kind, text]) => make("b", { class: kind }, text)));
    }

    // --- searching ----------------------------------------------------------------------------------------------------

    isFound(side, node) {
      const pods = this.data.sides[side].pods[node] || [];
      return this.data.nodes[node].toLowerCase().includes(this.word) || pods.some((pod) => this.data.names[pod].toLowerCase().includes(this.word));
    }

    tellFound() {
      const found = this.data.nodes.filter((_, node) => this.data.sides.some((_side, side) => this.isFound(side, node)));
      return `${format.count(found.length)} of ${format.count(this.data.nodes.length)} nodes marked${found.length ? `: ${found.slice(0, 8).join(", ")}` : ""}`;
    }

    // --- one node -----------------------------------------------------------------------------------------------------

    nodeAt(event) {
      if (this.data.tiles) return kubeclassic.tiles.nodeAt(event);
      const picture = event.target.closest("svg");
      if (!picture || !picture.nodes_) return undefined;
      const frame = picture.getBoundingClientRect(), scale = picture.viewBox.baseVal.width / frame.width;
      const column = Math.floor(((event.clientX - frame.left) * scale) / (this.wide + GAP)), row = Math.floor(((event.clientY - frame.top) * scale) / (this.size + GAP));
      return column < picture.across_ ? picture.nodes_[row * picture.across_ + column] : undefined;
    }

    key(event, side) {
      if (this.choose && (event.key === "Enter" || event.key === " ") && this.at !== undefined) {
        event.preventDefault();
        this.choose(this.order[this.at]);
        return;
      }
      const across = this.places.get(this.order[this.at ?? 0])?.[side]?.picture?.across_ ?? 1;
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
      const to = event.key === "Home" ? 0 : event.key === "End" ? this.order.length - 1 : (this.at ?? 0) + steps[event.key];
      if (Number.isNaN(to)) return;
      event.preventDefault();
      this.go(side, Math.min(Math.max(to, 0), this.order.length - 1));
    }

    go(side, at) { this.at = at; if (this.order.length) this.tell(this.order[at], side); }

    tell(node, side) {
      this.clear();
      for (const place of this.places.get(node)) place?.tile ? place.tile.classList.add("here") : place?.picture.append(this.here(place));
      this.told.replaceChildren(...this.words(node, side));
      this.told.classList.add("on");
    }

    words(node, side) {
      const labels = Object.values(this.data.labels).map((label) => label.texts[label.values[node]]).filter(Boolean);
      const order = [side, ...this.data.sides.keys()].filter((one, at, all) => all.indexOf(one) === at);
      const told = order.map((one) => make("span", { class: "of" }, `${order.length > 1 ? `${this.data.sides[one].title}: ` : ""}${this.sideWords(one, node)}`));
      return [make("b", { class: "name" }, this.data.nodes[node]), labels.length ? ` (${labels.join(", ")})` : "", ...told];
    }

    sideWords(side, node) {
      const { uses, pods, states, notes, changes } = this.data.sides[side], { plus, minus } = changes?.get(node) ?? {};
      const used = Object.entries(uses).filter(([, values]) => values[node] >= 0).map(([resource, values]) => `${resource} ${(values[node] / 10).toFixed(1)} %`);
      const parts = [states[node], notes[node], plus && `${several(plus, "pod")} came`, minus && `${several(minus, "pod")} left`, ...used].filter(Boolean);
      if (pods.length) {
        const here = pods[node], more = here.length - MOST_PODS;
        const names = here.slice(0, MOST_PODS).map((pod) => this.data.names[pod]);
        parts.push(`${several(here.length, "pod")}${names.length ? `: ${names.join(", ")}` : ""}${more > 0 ? ` and ${format.count(more)} more` : ""}`);
      }
      return parts.join("; ");
    }

    clear() { for (const old of this.root.querySelectorAll(".here:not(.chosen)")) old.matches(".tile") ? old.classList.remove("here") : old.remove(); }

    leave() {
      this.clear();
      this.told.textContent = this.word ? this.tellFound() : this.hint;
      this.told.classList.remove("on");
    }
  }

  kubeclassic.ClusterMap = ClusterMap;
  start("maps", "[data-part=map]", (root, data) => new ClusterMap(root, data));
})();
