// The lab's page: it holds the model, asks the server, and lets every part show what came back.
import { Line, Trouble, ask, fileOf } from "./api.js";
import { Cluster } from "./cluster.js";
import { Controls } from "./controls.js";
import { Lists } from "./lists.js";
import { Model, WORDS, mapData } from "./model.js";
import { PINS, Pins } from "./pins.js";
import { Presets } from "./presets.js";
import { cut } from "./tip.js";
import { Why } from "./why.js";
const { make, options, format } = kubeclassic;

const SAVES = { rules: "Policy or profile", command: "Commands that give this placement" };
const BETWEEN = 40;
const place = (id) => document.getElementById(id);

class Lab {
  constructor() {
    this.model = new Model();
    this.line = new Line();
    this.chosen = { pod: null, node: null };
    this.setUpBar();
    this.parts = { controls: new Controls(this), cluster: new Cluster(this), lists: new Lists(this), why: new Why(this), pins: new Pins(this), presets: new Presets(this) };
    this.setUpTop();
    this.channel = new BroadcastChannel(`kubeclassic-lab-${location.pathname}`);
    this.channel.onmessage = () => this.look();
  }

  get placement() { return this.model.placement; }

  // --- asking ---------------------------------------------------------------------------------------------------------

  /** Does something; false where it could not be done, which is told where it belongs. Actions with the same *key* overtake each other. */
  async act(action, key = null) {
    const began = performance.now();
    this.work(1);
    const found = await this.trying(null, () => this.line.add(() => ask("do", { ...action, ...this.model.seen, against: this.against.value }), key));
    this.work(-1);
    if (!found) return false;
    this.fault(null);
    this.take(found);
    document.body.dataset.lag = Math.round(performance.now() - began);
    this.channel.postMessage(found.session.number);
    return true;
  }

  /** Shows that an answer is under way, or that it came: what is seen of the step before is grey, and its headline is gone. */
  work(more) {
    this.working = (this.working ?? 0) + more;
    const busy = this.working > 0;
    for (const id of ["outcome", "map", "list"]) place(id).setAttribute("aria-busy", String(busy));
    if (busy) place("verdict").textContent = "working ...";
    else if (this.model.session) this.showVerdict();
  }

  /** Looks at the session: at the beginning, and when another page of it did something. */
  async look() {
    const found = await this.trying("look", () => this.line.add(() => ask("session", { ...this.model.seen, against: this.against.value }), "look"));
    if (found) this.take(found);
  }

  async trying(field, job) {
    try {
      const found = await job();
      return found;
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      this.fault(error);
      if (this.model.session) this.parts.controls.show(this.model.session);
      return null;
    }
  }

  /** Shows an error at its field, and where it is not in view at the top. */
  fault(error) {
    for (const one of document.querySelectorAll(".fault[data-field]")) one.hidden = true;
    const wanted = error?.field.startsWith("switch") ? "switch" : error?.field;
    const near = wanted ? document.querySelector(`.fault[data-field="${CSS.escape(wanted)}"]`) : null, top = place("trouble");
    if (near && error) { near.textContent = error.message; near.hidden = false; }
    top.hidden = !error || (near !== null && near.offsetParent !== null);
    top.textContent = error?.message ?? "";
  }

  // --- showing --------------------------------------------------------------------------------------------------------

  take(found) {
    const before = this.model.session?.number;
    this.model.apply(found);
    this.show();
    if (before === undefined) this.chooseFirst();
    else if (this.chosen.pod && before !== found.session.number) this.askWhy();
  }

  /** A page that opens asks about a pod without a node, or where each has one about the first that waited. */
  chooseFirst() {
    const { model } = this, at = model.waiting[0] ?? model.plot.pods.findIndex((pod) => pod[3] < 0);
    if (at >= 0) this.choosePod(model.plot.pods[at][0]);
  }

  show() {
    const { model, parts } = this, { session, summary, difference, plot } = model;
    options(this.against, [["step", "the step before"], ["start", "the start"], ...PINS.filter((name) => session.pins[name]).map((name) => [name, `pin ${name}`])], session.pins[this.against.value] || ["step", "start"].includes(this.against.value) ? this.against.value : "step");
    this.showVerdict();
    place("numbers").textContent = [difference ? `Compared with ${this.against.selectedOptions[0]?.textContent}` : "", `${format.count(summary.placed)} of ${format.count(summary.pods)} pods placed on ${format.count(summary.nodes)} nodes`,
      summary.unschedulable ? `${format.count(summary.unschedulable)} without a node` : "", summary.evicted ? `${format.count(summary.evicted)} had to leave` : "",
      ...summary.resources.slice(0, 2).map((one) => `${one.resource} ${format.share(one.use)}`), `release ${session.release}, ${session.source.name}`].filter(Boolean).join("; ");
    place("unread").replaceChildren(...session.unread.map((text) => { const line = document.createElement("p"); line.className = "unread"; line.textContent = `${text}.`; return line; }));
    document.body.dataset.state = session.number;
    place("undo").disabled = session.at === 0;
    place("redo").disabled = session.at === session.history.length - 1;
    options(place("history"), session.history.map((one, at) => [String(at), `${at}: ${one.did}`]), String(session.at));
    this.showViews(session);
    parts.controls.show(session);
    parts.cluster.show(session, plot);
    parts.lists.show();
    parts.pins.show(session, summary);
    this.drawMaps();
    parts.pins.fetch().then(() => { if (Object.keys(session.pins).length) { this.showViews(session); this.drawMaps(); } });
  }

  showVerdict() {
    if (this.working > 0) return;
    const { difference, summary } = this.model;
    place("verdict").textContent = difference ? sentence(difference.words) : `${format.count(summary.placed)} of ${format.count(summary.pods)} pods that wait find a node`;
  }

  showViews(session) {
    const pinned = PINS.filter((name) => session.pins[name]), views = [["now", "one map"], ...pinned.map((name) => [`${name}|now`, `${name} beside now`]), ...(pinned.length > 1 ? [["A|B", "A beside B"]] : [])];
    options(this.view, views, views.some(([key]) => key === this.view.value) ? this.view.value : "now");
    this.view.parentElement.hidden = views.length < 2;
  }

  drawMaps() {
    if (!this.model.plot) return;
    const titles = { now: "Now", A: "Pin A", B: "Pin B" }, wanted = this.view.value.split("|");
    const sides = wanted.map((name) => ({ name, placement: name === "now" ? this.placement : this.model.others.get(name)?.placement })).filter((side) => side.placement);
    const data = mapData(sides.map(({ name, placement }) => ({ placement, title: sides.length > 1 ? titles[name] : "",
      marks: name === "now" ? this.model.marks : null })), this.chosen.node);
    if (this.map) this.map.show(data);
    else this.map = new kubeclassic.ClusterMap(place("map"), data, (node) => this.chooseNode(this.map.data.nodes[node]));
    document.body.classList.toggle("beside", sides.length > 1);
    this.drawBetween(sides.length > 1 ? sides : null);
  }

  /** Between two maps: the pods that are elsewhere, with where they were and are. */
  drawBetween(sides) {
    const maps = document.getElementById("maps"), old = maps.querySelector(".between");
    old?.remove();
    if (!sides) return;
    const [before, now] = sides.map((side) => side.placement), name = (placement, row) => placement.plot.nodes[placement.hosts[row]]?.[0] ?? null, found = [];
    now.plot.pods.forEach(([pod], row) => {
      const there = before.plot.podAt.get(pod), was = there === undefined ? null : name(before, there), is = name(now, row);
      if (was !== is) found.push([pod, was, is, was && is ? WORDS.moved : is ? WORDS.gained : WORDS.lost]);
    });
    const line = ([pod, was, is, word]) => make("li", { class: word === WORDS.lost ? "lost" : word === WORDS.gained ? "gained" : "" },
      make("button", { type: "button", class: "link", "data-full": pod, onclick: () => this.choosePod(pod) }, pod), make("span", { "data-full": `${was ?? "-"} → ${is ?? "-"}` }, `${was ?? "-"} → ${is ?? "-"}`));
    maps.insertBefore(make("div", { class: "between" }, make("h3", {}, `${format.count(found.length)} pods differ`), make("ol", {}, found.slice(0, BETWEEN).map(line)),
      found.length > BETWEEN ? make("p", { class: "soft" }, `and ${format.count(found.length - BETWEEN)} more: What changed has all`) : null), maps.children[1]);
    cut(maps);
  }

  // --- choosing -------------------------------------------------------------------------------------------------------

  choosePod(pod) {
    this.chosen.pod = pod;
    this.parts.cluster.showChosen();
    this.askWhy();
  }

  chooseNode(node) {
    this.chosen.node = this.chosen.node === node ? null : node;
    this.parts.cluster.showChosen();
    this.drawMaps();
    if (this.chosen.pod) this.askWhy();
  }

  async askWhy() {
    const { pod, node } = this.chosen, { why } = this.parts;
    why.wait(pod, node);
    try {
      const found = await this.line.add(() => ask("why", { pod, node }), "why");
      if (found) why.show(found, node);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      why.fail(error);
    }
  }

  // --- setting up -----------------------------------------------------------------------------------------------------

  setUpBar() {
    const bar = place("mapbar"), select = (title, change) => {
      const made = make("select", { onchange: change });
      bar.append(make("label", {}, title, made));
      return made;
    };
    this.against = select("Compare with", () => this.look());
    options(this.against, [["step", "the step before"]], "step");
    this.view = select("View", () => this.drawMaps());
    options(this.view, [["now", "one map"]], "now");
  }

  setUpTop() {
    place("undo").addEventListener("click", () => this.act({ do: "undo" }));
    place("redo").addEventListener("click", () => this.act({ do: "redo" }));
    place("reset").addEventListener("click", () => this.act({ do: "reset" }));
    place("history").addEventListener("change", (event) => this.act({ do: "goto", at: Number(event.target.value) }));
    place("saves").querySelector(".sheet").append(...Object.entries(SAVES).map(([what, title]) => make("a", { href: fileOf(what), download: "" }, title)));
    addEventListener("keydown", (event) => {
      const inText = event.target.matches("input[type=text], input[type=search], input[type=number], textarea");
      if (!(event.ctrlKey || event.metaKey) || inText || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      this.act({ do: event.shiftKey ? "redo" : "undo" });
    });
    document.addEventListener("click", (event) => { if (!place("saves").contains(event.target)) place("saves").open = false; });
  }
}

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1);

document.lab = new Lab();
document.lab.look().then(() => document.lab.parts.presets.open());
addEventListener("resize", () => cut(place("list")));
