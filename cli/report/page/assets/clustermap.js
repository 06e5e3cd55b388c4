"use strict";
// Nodes as squares: for the width that there is, grouped by a label, coloured by a resource; pointing or arrow keys tell a node.
(() => {
  const { make, coloured, start, format } = kubeclassic;
  const SIZE = 11, GAP = 2, STEP = SIZE + GAP, MOST_PODS = 12;
  const SVG = "http://www.w3.org/2000/svg";

  function drawn(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  const level = (thousandths) => (thousandths <= 0 ? 0 : Math.min(Math.ceil(thousandths / 100), 11));

  class ClusterMap {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.told = root.querySelector(".told");
      this.hint = this.told.textContent;
      this.told.hidden = false;
      this.hosts = [...root.querySelectorAll(".groups")];
      this.group = this.data.groupBy;
      this.resource = this.data.resources[0];
      this.word = "";
      this.setUpBar();
      this.hosts.forEach((host, side) => this.setUpSide(host, side));
      this.draw();
      let width = root.clientWidth;
      new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; this.draw(); } }).observe(root);
    }

    setUpBar() {
      const bar = this.root.querySelector(".bar"), labels = Object.keys(this.data.labels);
      const select = (text, values, now, change) => {
        const made = make("select", { onchange: () => { change(made.value); this.draw(); } }, values.map((value) => make("option", { value }, value || "nothing")));
        made.value = now;
        bar.append(make("label", {}, text, made));
      };
      if (labels.length) select("Group by", ["", ...labels], this.group, (value) => { this.group = value; });
      if (this.data.resources.length > 1) select("Colour by the use of", this.data.resources, this.resource, (value) => { this.resource = value; });
      const find = make("input", { type: "search", oninput: () => { this.word = find.value.toLowerCase(); this.draw(); } });
      bar.append(make("label", { class: "search" }, "Mark nodes or pods by name", find));
      bar.hidden = false;
    }

    setUpSide(host, side) {
      host.setAttribute("tabindex", "0");
      host.setAttribute("role", "application");
      host.setAttribute("aria-roledescription", "map of nodes");
      host.setAttribute("aria-label", `${this.data.sides[side].title || "Nodes"}: arrow keys go from node to node`);
      host.addEventListener("pointermove", (event) => this.point(event, side));
      host.addEventListener("pointerdown", (event) => this.point(event, side));
      host.addEventListener("pointerleave", () => { if (document.activeElement !== host) this.leave(); });
      host.addEventListener("focus", () => { if (host.matches(":focus-visible")) this.go(side, this.at ?? 0); });
      host.addEventListener("blur", () => this.leave());
      host.addEventListener("keydown", (event) => this.key(event, side));
    }

    // --- drawing ------------------------------------------------------------------------------------------------------

    groups() {
      const label = this.data.labels[this.group], found = new Map();
      this.data.nodes.forEach((_, node) => {
        const name = label ? label.texts[label.values[node]] : "";
        if (!found.has(name)) found.set(name, []);
        found.get(name).push(node);
      });
      return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
    }

    draw() {
      const groups = this.groups();
      this.places = new Map();
      this.order = groups.flatMap(([, nodes]) => nodes);
      for (const host of this.hosts) host.classList.toggle("finding", this.word !== "");
      this.hosts.forEach((host, side) => host.replaceChildren(...groups.map(([name, nodes]) => this.drawGroup(host, side, name, nodes, groups.length))));
      const what = this.root.querySelector(".what");
      if (this.resource) what.textContent = `Colour: the share of ${this.resource} in use. `;
      this.tellStates();
      this.at = undefined;
      if (this.word) this.told.textContent = this.tellFound();
      else this.told.textContent = this.hint;
    }

    drawGroup(host, side, name, nodes, several) {
      const many = this.data.nodes.length, zoom = many <= 60 ? 2.4 : many <= 300 ? 1.5 : 1;
      const room = Math.max(Math.floor(host.clientWidth / STEP / zoom), 8);
      const across = several > 1 ? Math.min(room, Math.max(Math.ceil(Math.sqrt(nodes.length * 1.8)), 8)) : room;
      const columns = Math.min(across, nodes.length), width = STEP * columns, height = STEP * Math.ceil(nodes.length / across);
      const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width: width * zoom, height: height * zoom, "aria-hidden": "true" });
      picture.nodes_ = nodes;
      picture.across_ = across;
      nodes.forEach((node, place) => {
        if (!this.places.has(node)) this.places.set(node, []);
        this.places.get(node)[side] = { picture, left: STEP * (place % across), top: STEP * Math.floor(place / across) };
      });
      for (const [colour, path] of this.squares(side, nodes)) picture.append(drawn("path", { class: colour, d: path }));
      for (const [state, path] of this.marks(side, nodes)) {
        const mark = drawn("path", { d: path, class: this.word ? "found" : "state" });
        if (!this.word) mark.style.fill = this.data.colours[state] || "var(--ink)";
        picture.append(mark);
      }
      const title = `${name || (this.group ? `no ${this.group}` : "all")}: ${format.count(nodes.length)} ${nodes.length === 1 ? "node" : "nodes"}`;
      return make("figure", {}, make("figcaption", {}, title), picture);
    }

    squares(side, nodes) {
      const found = new Map(), uses = this.data.sides[side].uses[this.resource];
      for (const node of nodes) {
        const { left, top } = this.places.get(node)[side];
        const colour = uses === undefined || uses[node] < 0 ? "none" : `u${level(uses[node])}`;
        found.set(colour, `${found.get(colour) || ""}M${left} ${top}h${SIZE}v${SIZE}h-${SIZE}z`);
      }
      return found;
    }

    /** Small squares within: a node's state, or that it is looked for. */
    marks(side, nodes) {
      const found = new Map(), { states } = this.data.sides[side];
      for (const node of nodes) {
        const state = this.word ? (this.isFound(side, node) ? "found" : "") : states[node];
        if (!state) continue;
        const { left, top } = this.places.get(node)[side];
        const shape = this.word ? `M${left} ${top}h${SIZE}v${SIZE}h-${SIZE}z` : `M${left + 3} ${top + 3}h5v5h-5z`;
        found.set(state, (found.get(state) || "") + shape);
      }
      return found;
    }

    isFound(side, node) {
      const pods = this.data.sides[side].pods[node] || [];
      return this.data.nodes[node].toLowerCase().includes(this.word) || pods.some((pod) => this.data.names[pod].toLowerCase().includes(this.word));
    }

    tellFound() {
      const found = this.data.nodes.filter((_, node) => this.data.sides.some((_side, side) => this.isFound(side, node)));
      return `${format.count(found.length)} of ${format.count(this.data.nodes.length)} nodes marked${found.length ? `: ${found.slice(0, 8).join(", ")}` : ""}`;
    }

    tellStates() {
      const legend = this.root.querySelector(".legend-of-use");
      for (const old of legend.querySelectorAll(".state")) old.remove();
      for (const [state, colour] of Object.entries(this.data.colours)) {
        legend.append(make("span", { class: "state" }, coloured("span", colour, { class: "dot" }), state));
      }
    }

    // --- one node -----------------------------------------------------------------------------------------------------

    point(event, side) {
      const picture = event.target.closest("svg");
      if (!picture || !picture.nodes_) return;
      const box = picture.getBoundingClientRect(), scale = picture.viewBox.baseVal.width / box.width;
      const column = Math.floor(((event.clientX - box.left) * scale) / STEP), row = Math.floor(((event.clientY - box.top) * scale) / STEP);
      const node = column < picture.across_ ? picture.nodes_[row * picture.across_ + column] : undefined;
      if (node !== undefined) this.tell(node, side);
    }

    key(event, side) {
      const { picture } = (this.places.get(this.order[this.at ?? 0]) || [])[side] || {};
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: picture ? picture.across_ : 1, ArrowUp: picture ? -picture.across_ : -1 };
      const to = event.key === "Home" ? 0 : event.key === "End" ? this.order.length - 1 : (this.at ?? 0) + steps[event.key];
      if (Number.isNaN(to)) return;
      event.preventDefault();
      this.go(side, Math.min(Math.max(to, 0), this.order.length - 1));
    }

    go(side, at) {
      this.at = at;
      if (this.order.length) this.tell(this.order[at], side);
    }

    tell(node, side) {
      for (const old of this.root.querySelectorAll(".here")) old.remove();
      for (const place of this.places.get(node)) place?.picture.append(drawn("rect", { class: "here", x: place.left, y: place.top, width: SIZE, height: SIZE }));
      this.told.replaceChildren(...this.words(node, side));
      this.told.classList.add("on");
      this.root.dispatchEvent(new CustomEvent("node", { bubbles: true, detail: { name: this.data.nodes[node], side } }));
    }

    words(node, side) {
      const labels = Object.values(this.data.labels).map((label) => label.texts[label.values[node]]).filter(Boolean);
      const several = this.data.sides.length > 1;
      const order = [side, ...this.data.sides.keys()].filter((one, at, all) => all.indexOf(one) === at);
      const told = order.map((one) => make("span", { class: "of" }, `${several ? `${this.data.sides[one].title}: ` : ""}${this.sideWords(one, node)}`));
      return [make("b", { class: "name" }, this.data.nodes[node]), labels.length ? ` (${labels.join(", ")})` : "", ...told];
    }

    sideWords(side, node) {
      const { uses, pods, states, notes } = this.data.sides[side];
      const used = Object.entries(uses).filter(([, values]) => values[node] >= 0).map(([resource, values]) => `${resource} ${(values[node] / 10).toFixed(1)} %`);
      const parts = [states[node], notes[node], ...used].filter(Boolean);
      if (pods.length) {
        const here = pods[node], more = here.length - MOST_PODS;
        const names = here.slice(0, MOST_PODS).map((pod) => this.data.names[pod]);
        parts.push(`${format.count(here.length)} ${here.length === 1 ? "pod" : "pods"}${names.length ? `: ${names.join(", ")}` : ""}${more > 0 ? ` and ${format.count(more)} more` : ""}`);
      }
      return parts.join("; ");
    }

    leave() {
      for (const old of this.root.querySelectorAll(".here")) old.remove();
      this.told.textContent = this.word ? this.tellFound() : this.hint;
      this.told.classList.remove("on");
    }
  }

  start("maps", "[data-part=map]", (root, data) => new ClusterMap(root, data));
})();
