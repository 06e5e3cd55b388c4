// What the page knows: the plot of nodes and pods, where each pod is, and what differs from what it is compared with.

const NOWHERE = -1;
/** What becomes of a pod, in the same words everywhere. */
export const WORDS = { moved: "moves", gained: "finds a node", lost: "no longer fits", come: "is new", waits: "waits" };

/** Where pods are on a plot, with what nodes have in use. */
export class Placement {
  constructor(plot) {
    this.plot = plot;
    this.hosts = new Int32Array(plot.pods.length).fill(NOWHERE);
    this.whys = new Array(plot.pods.length).fill("");
    this.used = [];
    this.podsOn = [];
  }

  /** Takes over rows [pod, node, text] of an answer. */
  apply(answer) {
    for (const [pod, node, why] of answer.rows) {
      this.hosts[pod] = node;
      this.whys[pod] = why ? answer.texts[why] : "";
    }
    this.count();
  }

  /** The same on *plot*, which may have more pods. */
  on(plot) {
    const made = new Placement(plot);
    made.hosts.set(this.hosts);
    this.whys.forEach((why, at) => { made.whys[at] = why; });
    return made;
  }

  /** Adds up what pods request on each node. */
  count() {
    const { nodes, pods, resources } = this.plot, width = resources.length;
    this.used = new Float64Array(nodes.length * width);
    this.podsOn = nodes.map(() => []);
    for (let at = 0; at < pods.length; at += 1) {
      const node = this.hosts[at];
      if (node < 0) continue;
      const requests = pods[at][1];
      for (let which = 0; which < width; which += 1) this.used[node * width + which] += requests[which];
      this.podsOn[node].push(at);
    }
  }

  /** The share of a node's resource in use, or null where it has none; "pods" counts places. */
  share(node, resource) {
    const [, , had, places] = this.plot.nodes[node];
    if (resource === "pods") return places ? this.podsOn[node].length / places : null;
    const which = this.plot.resources.findIndex((one) => one.name === resource);
    return which < 0 || !had[which] ? null : this.used[node * this.plot.resources.length + which] / had[which];
  }
}

/** The plot that an answer brings: a whole one, or what differs from *before* and what comes after it. */
export function plotOf(found, before) {
  if (found.since === undefined) return indexed(found);
  const replaced = (rows, changes) => Object.assign([...rows], changes);
  const made = { ...before, number: found.number, waiting: found.waiting, nodes: replaced(before.nodes, found.nodes), pods: replaced(before.pods, found.pods) };
  return made.nodes.length + made.pods.length > before.nodes.length + before.pods.length ? indexed(made) : made;
}

function indexed(plot) {
  plot.nodeAt = new Map(plot.nodes.map((node, at) => [node[0], at]));
  plot.podAt = new Map(plot.pods.map((pod, at) => [pod[0], at]));
  return plot;
}

export class Model {
  constructor() {
    this.plot = null;
    this.placement = null;
    this.session = null;
    this.summary = null;
    this.difference = null;
    this.marks = new Map();
    this.changed = new Map();
    this.others = new Map(); // "A", "B" -> {number, placement}
  }

  get seen() { return { seen: this.session?.number ?? null, plot: this.plot?.number ?? null }; }

  /** Takes over an answer of the server. */
  apply(answer) {
    if (answer.plot) this.plot = plotOf(answer.plot, this.plot);
    this.placement = !this.placement || answer.placement.whole ? new Placement(this.plot) : this.placement.on(this.plot);
    this.placement.apply(answer.placement);
    this.session = answer.session;
    this.summary = answer.summary;
    this.difference = answer.difference;
    this.mark(answer.difference);
  }

  /** Which nodes got pods and which lost some, and what became of each pod that changed. */
  mark(difference) {
    this.marks = new Map();
    this.changed = new Map();
    if (!difference) return;
    const note = (name, plus, minus) => {
      const at = this.plot.nodeAt.get(name);
      if (at === undefined) return;
      const mark = this.marks.get(at) ?? { plus: 0, minus: 0 };
      mark.plus += plus;
      mark.minus += minus;
      this.marks.set(at, mark);
    };
    for (const [pod, from, to] of difference.moved) { note(from, 0, 1); note(to, 1, 0); this.changed.set(pod, { was: from, word: WORDS.moved }); }
    for (const [pod, from] of difference.lost) { note(from, 0, 1); this.changed.set(pod, { was: from, word: WORDS.lost }); }
    for (const [pod, to] of difference.found) { note(to, 1, 0); this.changed.set(pod, { was: "", word: WORDS.gained }); }
    for (const pod of difference.come) this.changed.set(pod, { was: "", word: WORDS.come });
  }

  /** The pods without a node, by row: those that wait first come first. */
  get waiting() { return [...this.placement.hosts.keys()].filter((row) => this.placement.hosts[row] < 0); }

  hostName(pod) {
    const host = this.placement.hosts[pod];
    return host < 0 ? "" : this.plot.nodes[host][0];
  }
}

/** What the map is to show of *sides*, {title, placement, marks}: the nodes of the last one, and then those that only others have. */
export function mapData(sides, chosen) {
  const { plot } = sides.at(-1).placement, nodeAt = new Map();
  for (const { placement } of [...sides].reverse()) for (const [name] of placement.plot.nodes) if (!nodeAt.has(name)) nodeAt.set(name, nodeAt.size);
  const nodes = [...nodeAt.keys()], resources = [...plot.resources.map((one) => one.name), "pods"];
  let names = [];
  const side = ({ title, placement, marks }) => {
    const own = placement.plot, first = names.length, at = own === plot ? nodes.map((_, node) => (node < plot.nodes.length ? node : undefined)) : nodes.map((name) => own.nodeAt.get(name));
    const each = (made, none) => at.map((node) => (node === undefined ? none : made(node)));
    const thousandths = (share) => (share === null ? -1 : Math.round(1000 * share));
    names = names.concat(own.pods.map(([pod]) => pod));
    return { title, changes: marks,
      uses: Object.fromEntries(resources.map((resource) => [resource, each((node) => thousandths(placement.share(node, resource)), -1)])),
      pods: each((node) => placement.podsOn[node].map((pod) => first + pod), []),
      states: each((node) => (own.nodes[node][4] ? "cordoned" : ""), "not there"),
      notes: each((node) => { const [, , , places, , taints] = own.nodes[node]; return `room for ${places} pods${taints.length ? `; taints ${taints.join(", ")}` : ""}`; }, "") };
  };
  const labels = plot.labels.map((label, which) => {
    const values = nodes.map((_, node) => plot.nodes[node]?.[1][which] ?? ""), texts = [...new Set(values)];
    return [label, { texts, values: values.map((value) => texts.indexOf(value)) }];
  });
  return { nodes, labels: Object.fromEntries(labels), groupBy: plot.labels[0] ?? "", resources, colours: { cordoned: "var(--near)" },
    sides: sides.map(side), chosen: nodeAt.get(chosen), get names() { return names; } };
}
