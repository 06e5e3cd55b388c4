// What the page knows: the plot of nodes and pods, where each pod is, and what differs from what it is compared with.
import { ask } from "./api.js";

const NOWHERE = -1;
/** What becomes of a pod, in the same words everywhere. */
export const WORDS = { moved: "moves", gained: "finds a node", lost: "no longer fits", come: "is new", waits: "waits" };

/** Where the pods of a plot are after a run, with what nodes have in use. */
export class Placement {
  constructor(plot, answer) {
    this.plot = plot;
    this.hosts = Int32Array.from(plot.pods, (pod) => pod[3]);
    this.whys = new Array(plot.pods.length).fill("");
    this.messages = new Map();
    const reasons = new Map(answer.reasons.flatMap(({ reason, pods }) => pods.map((pod) => [pod, reason])));
    for (const { pod, host, error, evictedBy } of answer.pods) {
      this.put(pod, host, evictedBy ? `evicted to make room for ${evictedBy}` : reasons.get(pod) ?? error ?? "");
      if (error) this.messages.set(pod, error);
    }
    for (const { pod, by } of answer.evicted) this.put(pod, null, `evicted to make room for ${by}`);
    this.count();
  }

  put(pod, host, why) {
    const at = this.plot.podAt.get(pod);
    if (at === undefined) return;
    this.hosts[at] = host === null ? NOWHERE : this.plot.nodeAt.get(host) ?? NOWHERE;
    this.whys[at] = host === null ? why : "";
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

  host(pod) {
    const at = this.plot.podAt.get(pod);
    return at === undefined || this.hosts[at] < 0 ? null : this.plot.nodes[this.hosts[at]][0];
  }
}

const MOST_VALUES = 64, MOST_LABELS = 40;
const unit = (name) => (name === "cpu" ? "millicores" : /memory|storage|hugepages/.test(name) ? "bytes" : "pieces");

/** The labels by which nodes can be grouped: zones first; those with one value for each node, or with very many, are left out. */
function groupingLabels(rows) {
  const values = new Map();
  for (const [labels] of rows) for (const [key, value] of Object.entries(labels)) values.set(key, (values.get(key) ?? new Set()).add(value));
  const rank = (key) => `${/kubernetes.io\/zone$/.test(key) ? 0 : 1}${key.includes("zone") ? 0 : 1}${key.includes("region") ? 0 : 1}${key}`;
  const useful = [...values].filter(([, found]) => found.size > 1 && found.size <= Math.min(MOST_VALUES, Math.max(rows.length >> 1, 2))).map(([key]) => key);
  return useful.sort((one, other) => (rank(one) < rank(other) ? -1 : 1)).slice(0, MOST_LABELS);
}

/** The plot that an answer brings: nodes as [name, labels, allocatable, places, cordoned, taints], pods as [key, requests, priority, node]. */
export function plotOf(found, before) {
  const rows = { Node: new Map(found.since ? before.rows.Node : []), Pod: new Map(found.since ? before.rows.Pod : []) };
  for (const [kind, key] of found.gone) rows[kind]?.delete(key);
  for (const [kind, key, row] of found.rows) rows[kind].set(key, row);
  const names = new Set([...rows.Node.values()].flatMap(([, had]) => Object.keys(had).filter((name) => had[name] && name !== "pods")));
  const first = ["cpu", "memory"].filter((name) => names.has(name)), resources = [...new Set([...first, ...names])].map((name) => ({ name, unit: unit(name) })), labels = groupingLabels([...rows.Node.values()]);
  const nodeAt = new Map([...rows.Node.keys()].map((name, at) => [name, at]));
  const amounts = (had) => resources.map(({ name }) => had[name] ?? 0);
  const nodes = [...rows.Node].map(([name, [has, had, cordoned, taints]]) => [name, labels.map((label) => has[label] ?? null), amounts(had), had.pods ?? 0, cordoned, taints]);
  const pods = [...rows.Pod].sort((one, other) => Boolean(one[1][2]) - Boolean(other[1][2])).map(([key, [requests, priority, node]]) => [key, amounts(requests), priority, node ? nodeAt.get(node) ?? NOWHERE : NOWHERE]);
  return { number: found.number, rows, resources, labels, nodes, pods, nodeAt, podAt: new Map(pods.map((pod, at) => [pod[0], at])), waiting: pods.filter((pod) => pod[3] < 0).length };
}

const LISTS = [["moved", "moves", "move"], ["come", "is new", "are new"], ["gone", "is not there any more", "are not there any more"], ["found", "finds a node now", "find a node now"], ["lost", "no longer fits", "no longer fit"]];

/** How the placement *now* differs from *before*: pods by what became of them, and that in one sentence. */
export function differenceOf(before, now) {
  const found = { moved: [], lost: [], found: [], come: [], gone: [] };
  for (const [pod] of now.plot.pods) {
    if (!before.plot.podAt.has(pod)) { found.come.push([pod]); continue; }
    const was = before.host(pod), is = now.host(pod);
    if (was && is && was !== is) found.moved.push([pod, was, is]);
    else if (was && !is) found.lost.push([pod, was]);
    else if (!was && is) found.found.push([pod, is]);
  }
  for (const [pod] of before.plot.pods) if (!now.plot.podAt.has(pod)) found.gone.push([pod]);
  const told = LISTS.filter(([name]) => found[name].length).map(([name, one, several], at) => {
    const count = found[name].length;
    return `${count.toLocaleString("en-US")}${at ? "" : count === 1 ? " pod" : " pods"} ${count === 1 ? one : several}`;
  });
  const names = (found.lost.length ? found.lost : found.found).map(([pod]) => pod), listed = names.slice(0, 3).join(", ");
  const words = told.length ? `${told.join(", ")}${listed ? `: ${listed}${names.length > 3 ? " and others" : ""}` : ""}` : "every pod stays where it is";
  return { words, ...found, total: Object.values(found).reduce((sum, list) => sum + list.length, 0) };
}

const KEPT = 60;

/** The answers to the latest states, and which of them is shown. */
export class Model {
  constructor({ releases, providers, orders, tieBreaks }) {
    Object.assign(this, { releases, providers, orders, tieBreaks, answers: new Map(), latest: null, others: new Map() });
    this.marks = new Map();
    this.changed = new Map();
  }

  /** What *state* comes to: {placement, summary, verdict, rules, idle, warnings}. */
  async answer(state) {
    const key = JSON.stringify(state), known = this.answers.get(key);
    if (known) return known;
    const found = await ask("simulate", state, {}, this.latest?.number ?? null);
    if (found.cluster) this.latest = plotOf(found.cluster, this.latest);
    const { summary, verdict, rules, idle, warnings } = found, made = { placement: new Placement(this.latest, found), summary, verdict, rules, idle, warnings };
    this.answers.set(key, made);
    if (this.answers.size > KEPT) this.answers.delete(this.answers.keys().next().value);
    return made;
  }

  /** Shows an answer, compared with *other*, an answer or null. */
  show(answer, other) {
    Object.assign(this, answer);
    this.plot = answer.placement.plot;
    this.difference = other ? differenceOf(other.placement, answer.placement) : null;
    this.mark(this.difference);
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
    for (const [pod] of difference.come) this.changed.set(pod, { was: "", word: WORDS.come });
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
