// Nodes as squares on a canvas: grouped by a label, coloured by use, with marks where pods came or left. Pointer and keys tell a node.
const { format } = kubeclassic;

const SMALLEST = 8, GREATEST = 46, NAMED = 38, NAMED_WIDTH = 118, GAP = 3, TITLE = 20, BETWEEN = 22;
const level = (share) => (share === null ? -1 : share <= 0 ? 0 : Math.min(Math.ceil(share * 10 - 1e-9), 11));

/** The page's colours as a canvas takes them, for light or dark. */
export function palette() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const colour = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const found = { uses: Array.from({ length: 12 }, (_, at) => colour(`u${at}`)) };
  for (const name of ["ink", "soft", "line", "card", "good", "far", "near", "link"]) found[name] = colour(name);
  probe.remove();
  return found;
}

export class NodeMap {
  /** *chosen* is told the index of a node; *told* what is pointed at, or nothing. */
  constructor(host, title, { chosen, told }) {
    this.chosen = chosen;
    this.told = told;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "map of nodes");
    this.canvas.setAttribute("aria-label", `${title}: arrow keys go from node to node, Enter chooses`);
    this.heading = document.createElement("h3");
    this.heading.textContent = title;
    this.box = document.createElement("div");
    this.box.className = "labmap";
    this.box.append(this.heading, this.canvas);
    host.append(this.box);
    this.at = null;
    this.pinned = null;
    this.data = null;
    this.canvas.addEventListener("pointermove", (event) => this.point(this.found(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => { const at = this.found(event); if (at !== null) this.chosen(at); });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => this.point(null));
    this.observer = new ResizeObserver(() => { if (this.data && this.box.clientWidth !== this.width) this.show(this.data); });
    this.observer.observe(this.box);
  }

  remove() {
    this.observer.disconnect();
    this.box.remove();
  }

  /** Draws *data*: {placement, resource, label, marks, word, node}. */
  show(data) {
    this.data = data;
    this.width = this.box.clientWidth || 320;
    this.lay();
    this.draw();
  }

  // --- places ---------------------------------------------------------------------------------------------------------

  groups() {
    const { placement: { plot }, label } = this.data, which = plot.labels.indexOf(label), found = new Map();
    plot.nodes.forEach((node, at) => {
      const name = which < 0 ? "" : node[1][which] ?? "none";
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(at);
    });
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  lay() {
    const groups = this.groups(), count = this.data.placement.plot.nodes.length;
    let size = GREATEST;
    while (size > SMALLEST && this.arranged(groups, size) > Math.max(300, Math.min(560, count))) size -= size > 20 ? 4 : 1;
    this.size = size;
    this.height = this.arranged(groups, size);
    this.places = new Map(this.boxes.flatMap(({ nodes, left, top, across }) => nodes.map((node, at) => [node,
      [left + (at % across) * (this.wide + GAP), top + TITLE + Math.floor(at / across) * this.step]])));
    this.order = this.boxes.flatMap(({ nodes }) => nodes);
  }

  /** Groups side by side as far as they fit; answers the height. */
  arranged(groups, size) {
    const step = size + GAP, beside = (size >= NAMED ? Math.min(NAMED_WIDTH, this.width) : size) + GAP, most = Math.max(Math.floor((this.width + GAP) / beside), 1);
    let left = 0, top = 0, tall = 0;
    this.step = step;
    this.wide = beside - GAP;
    this.boxes = [];
    for (const [name, nodes] of groups) {
      const across = Math.min(most, groups.length > 1 ? Math.max(Math.ceil(Math.sqrt(nodes.length * (size >= NAMED ? 1 : 2.4))), size >= NAMED ? 2 : 4) : most);
      const wide = Math.max(across * beside, Math.min(name.length * 8, this.width)), high = TITLE + Math.ceil(nodes.length / across) * step;
      if (left && left + wide > this.width) { left = 0; top += tall + BETWEEN; tall = 0; }
      this.boxes.push({ name, nodes, left, top, across });
      left += wide + BETWEEN;
      tall = Math.max(tall, high);
    }
    return top + tall + GAP;
  }

  // --- drawing --------------------------------------------------------------------------------------------------------

  draw() {
    const scale = devicePixelRatio || 1, { canvas } = this;
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(this.height * scale);
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${this.height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    this.colours = palette();
    pen.font = "13px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "alphabetic";
    for (const box of this.boxes) {
      pen.fillStyle = this.colours.soft;
      const text = box.name || (this.data.label ? "none" : "all nodes");
      pen.fillText(`${text} (${box.nodes.length})`, box.left, box.top + 13, this.width - box.left);
    }
    for (const [node, [left, top]] of this.places) this.square(pen, node, left, top);
  }

  square(pen, node, left, top) {
    const { size, wide, colours } = this, { placement, resource, marks, word } = this.data;
    const share = placement.share(node, resource), use = level(share), [name, , , , cordoned] = placement.plot.nodes[node];
    if (word) pen.globalAlpha = this.matches(node, word) ? 1 : 0.22;
    if (use < 0) { pen.strokeStyle = colours.line; pen.strokeRect(left + 0.5, top + 0.5, wide - 1, size - 1); }
    else { pen.fillStyle = colours.uses[use]; pen.fillRect(left, top, wide, size); }
    if (cordoned) this.line(pen, colours.near, left, top + size, left + wide, top);
    const mark = marks?.get(node);
    if (mark) this.mark(pen, mark, left, top);
    if (size >= NAMED) this.name(pen, name, share, use, left, top);
    if (placement.plot.nodes[node][0] === this.data.node || node === this.at) {
      pen.strokeStyle = colours.ink;
      pen.lineWidth = 2.5;
      pen.strokeRect(left - 1.5, top - 1.5, wide + 3, size + 3);
      pen.lineWidth = 1;
    }
    pen.globalAlpha = 1;
  }

  /** A frame where pods came or left; with how many on squares that have room for it. */
  mark(pen, mark, left, top) {
    const { size, wide, colours } = this, thick = size > 20 ? 4 : 2.5;
    pen.lineWidth = thick;
    pen.strokeStyle = mark.plus && mark.minus ? colours.near : mark.plus ? colours.good : mark.minus ? colours.far : colours.ink;
    pen.strokeRect(left + thick / 2, top + thick / 2, wide - thick, size - thick);
    pen.lineWidth = 1;
    if (size < NAMED) return;
    let right = left + wide;
    for (const [text, colour] of [[mark.minus && `−${mark.minus}`, colours.far], [mark.plus && `+${mark.plus}`, colours.good]]) {
      if (!text) continue;
      const width = pen.measureText(text).width + 9;
      right -= width;
      pen.fillStyle = colour;
      pen.fillRect(right, top, width, 18);
      pen.fillStyle = colours.card;
      pen.fillText(text, right + 4, top + 14);
    }
  }

  name(pen, name, share, use, left, top) {
    const { size, wide, colours } = this;
    pen.fillStyle = use > 5 ? colours.card : colours.ink;
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    let text = name;
    while (text.length > 4 && pen.measureText(text).width > wide - 10) text = `${text.slice(0, text.length / 2 - 1)}…${text.slice(text.length / 2 + 1)}`;
    pen.fillText(text, left + 5, top + size - 7);
    pen.fillText(share === null ? "-" : format.share(share), left + 5, top + 16);
    pen.font = "13px system-ui, 'DejaVu Sans', sans-serif";
  }

  line(pen, colour, left, top, right, bottom) {
    pen.strokeStyle = colour;
    pen.lineWidth = Math.max(this.size / 9, 1.5);
    pen.beginPath();
    pen.moveTo(left, top);
    pen.lineTo(right, bottom);
    pen.stroke();
    pen.lineWidth = 1;
  }

  matches(node, word) {
    const { placement } = this.data, { plot } = placement;
    return plot.nodes[node][0].toLowerCase().includes(word) || placement.podsOn[node].some((pod) => plot.pods[pod][0].toLowerCase().includes(word));
  }

  // --- pointing -------------------------------------------------------------------------------------------------------

  found(event) {
    const { left, top } = this.canvas.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
    for (const [node, [a, b]] of this.places ?? []) if (x >= a && x < a + this.wide + GAP && y >= b && y < b + this.step) return node;
    return null;
  }

  point(at) {
    if (at === this.at) return;
    this.at = at;
    this.canvas.style.cursor = at === null ? "default" : "pointer";
    this.draw();
    this.told(at === null ? null : this.words(at));
  }

  key(event) {
    const turns = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.boxes[0]?.across ?? 1, ArrowUp: -(this.boxes[0]?.across ?? 1) };
    const now = this.at === null ? -1 : this.order.indexOf(this.at);
    if (event.key in turns) this.point(this.order[Math.min(Math.max(now + turns[event.key], 0), this.order.length - 1)]);
    else if (event.key === "Home") this.point(this.order[0]);
    else if (event.key === "End") this.point(this.order.at(-1));
    else if ((event.key === "Enter" || event.key === " ") && this.at !== null) this.chosen(this.at);
    else return;
    event.preventDefault();
  }

  /** A node in a sentence: its name, its use, what changed, its pods. */
  words(at) {
    const { placement, marks } = this.data, { plot } = placement, [name, , , places, cordoned, taints] = plot.nodes[at];
    const uses = plot.resources.map(({ name: resource }) => [resource, placement.share(at, resource)]).filter(([, share]) => share !== null);
    const pods = placement.podsOn[at], shown = pods.slice(0, 8).map((pod) => plot.pods[pod][0]), mark = marks?.get(at);
    const parts = [
      uses.map(([resource, share]) => `${resource} ${format.share(share)}`).join(", "), `${pods.length} of ${places} pods`,
      cordoned ? "cordoned" : "", taints.length ? `taints ${taints.join(", ")}` : "",
      mark ? [mark.plus ? `${mark.plus} came` : "", mark.minus ? `${mark.minus} left` : ""].filter(Boolean).join(", ") : "",
    ];
    return { name, text: parts.filter(Boolean).join("; "), pods: shown.join(", ") + (pods.length > 8 ? ` and ${pods.length - 8} more` : "") };
  }
}
