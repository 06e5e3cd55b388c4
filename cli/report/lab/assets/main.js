// The lab's page: it holds the states, asks the server, and lets every part show what came back.
import { Line, Trouble, ask } from "./api.js";
import { Cluster } from "./cluster.js";
import { Controls } from "./controls.js";
import { Lists } from "./lists.js";
import { Model, WORDS, mapData } from "./model.js";
import { PINS, Pins } from "./pins.js";
import { Presets } from "./presets.js";
import { States, changed, same } from "./states.js";
import { cut } from "./tip.js";
import { Why } from "./why.js";
const { make, options, format } = kubeclassic;

const SAVES = { "lab-rules.json": "Policy or profile", "lab-command.sh": "Commands that give this placement" };
const BETWEEN = 40;
const place = (id) => document.getElementById(id);

class Lab {
  constructor(begun) {
    this.model = new Model(begun);
    this.states = new States(begun.state);
    this.line = new Line();
    this.chosen = { pod: null, node: null };
    this.setUpBar();
    this.parts = { controls: new Controls(this), cluster: new Cluster(this), lists: new Lists(this), why: new Why(this), pins: new Pins(this), presets: new Presets(this) };
    this.setUpTop();
    addEventListener("storage", (event) => { if (event.newValue) { this.states.take(event.newValue); this.look(); } });
  }

  get placement() { return this.model.placement; }
  get state() { return this.states.now.state; }

  // --- asking ---------------------------------------------------------------------------------------------------------

  /** Does something; false where it could not be done, which is told where it belongs. Actions with the same *key* overtake each other. */
  async act(action, key = null) {
    const began = performance.now();
    this.work(1);
    const done = await this.trying(() => this.line.add(() => this.step(action), key));
    this.work(-1);
    if (!done) return false;
    this.fault(null);
    this.show();
    document.body.dataset.lag = Math.round(performance.now() - began);
    return true;
  }

  /** One step: to another state of the list, or to a new one, which the server has to accept first. */
  async step(action) {
    const { states, model } = this, at = { undo: states.at - 1, redo: states.at + 1, goto: action.at }[action.do];
    const before = states.now.number;
    if (action.do === "pin") states.pins[action.pin] = states.now;
    else if (action.do === "unpin") delete states.pins[action.pin];
    else if (at !== undefined) {
      if (at < 0 || at >= states.history.length) throw new Trouble(`nothing to ${action.do}`);
      states.at = at;
    } else {
      let field = "";
      try {
        const made = await changed(action, states.now.state, this);
        field = made.field;
        if (same(made.state, states.now.state)) return true;
        const found = await model.answer(made.state), idle = found.idle.filter(([text]) => !states.now.state.edits.includes(text));
        if (action.do === "edit" && idle.length) throw new Trouble(idle.map(([, told]) => told).join("; "), "edit");
        states.go({ ...made.state, weights: found.rules.weights, switches: found.rules.switches }, made.did, action.drag);
      } catch (error) {
        if (error instanceof Trouble) error.field = error.field || field || (action.do === "weight" ? `weight:${action.rule}` : action.name ?? action.do);
        throw error;
      }
    }
    await this.answered();
    states.keep();
    if (this.chosen.pod && before !== states.now.number) this.askWhy();
    return true;
  }

  /** Lets the model show the current state, compared with another one; pinned ones are answered, too. */
  async answered() {
    const { states, model } = this, other = states.other(this.against.value), answer = await model.answer(states.now.state);
    const before = other && other.number !== states.now.number ? await model.answer(other.state) : null, others = new Map();
    for (const [name, pin] of Object.entries(states.pins)) others.set(name, await model.answer(pin.state));
    model.others = others;
    model.show(answer, before);
  }

  /** Shows that an answer is under way, or that it came: what is seen of the step before is grey, and its headline is gone. */
  work(more) {
    this.working = (this.working ?? 0) + more;
    const busy = this.working > 0;
    for (const id of ["outcome", "map", "list"]) place(id).setAttribute("aria-busy", String(busy));
    if (busy) place("verdict").textContent = "working ...";
    else if (this.model.plot) this.showVerdict();
  }

  /** Shows the current state: at the beginning, and when another page of this lab did something. */
  async look() {
    const isFirst = !this.model.plot, done = await this.trying(() => this.line.add(async () => { await this.answered(); return true; }, "look"));
    if (!done) return;
    this.show();
    if (isFirst) this.chooseFirst();
  }

  async trying(job) {
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      this.fault(error);
      if (this.model.plot) this.parts.controls.show();
      return null;
    }
  }

  /** Shows an error at its field, and where it is not in view at the top. */
  fault(error) {
    for (const one of document.querySelectorAll(".fault[data-field]")) one.hidden = true;
    const near = error?.field ? document.querySelector(`.fault[data-field="${CSS.escape(error.field)}"]`) : null, top = place("trouble");
    if (near && error) { near.textContent = error.message; near.hidden = false; }
    top.hidden = !error || (near !== null && near.offsetParent !== null);
    top.textContent = error?.message ?? "";
  }

  // --- showing --------------------------------------------------------------------------------------------------------

  /** A page that opens asks about a pod without a node, or where each has one about the first that waited. */
  chooseFirst() {
    const { model } = this, at = model.waiting[0] ?? model.plot.pods.findIndex((pod) => pod[3] < 0);
    if (at >= 0) this.choosePod(model.plot.pods[at][0]);
  }

  show() {
    const { model, parts, states } = this, { summary, difference, plot } = model, pinned = PINS.filter((name) => states.pins[name]);
    const known = ["step", "start", ...pinned].includes(this.against.value) ? this.against.value : "step";
    options(this.against, [["step", "the step before"], ["start", "the start"], ...pinned.map((name) => [name, `pin ${name}`])], known);
    this.showVerdict();
    place("numbers").textContent = [difference ? `Compared with ${this.against.selectedOptions[0]?.textContent}` : "", `${format.counted(plot.nodes.length, "node")}, ${format.counted(plot.pods.length, "pod")}`,
      difference && summary.evicted ? `${format.count(summary.evicted)} had to leave` : "", ...summary.resources.slice(0, 2).map((one) => `${one.resource} ${format.share(one.use)}`),
      `release ${this.state.scheduler.release}, ${states.source(this.state, model.providers, model.rules)}`].filter(Boolean).join("; ");
    place("unread").replaceChildren(...model.warnings.filter((one) => one.release).map(({ text }) => make("p", { class: "unread" }, `${text}.`)));
    document.body.dataset.state = states.now.number;
    place("undo").disabled = states.at === 0;
    place("redo").disabled = states.at === states.history.length - 1;
    options(place("history"), states.history.map((one, at) => [String(at), `${at}: ${one.did}`]), String(states.at));
    this.showViews(pinned);
    parts.controls.show();
    parts.cluster.show();
    parts.lists.show();
    parts.pins.show();
    this.drawMaps();
  }

  showVerdict() {
    if (this.working > 0) return;
    const { difference, verdict, plot, summary } = this.model, placed = plot.pods.filter((pod) => pod[3] >= 0).length;
    const idle = `${placed ? (placed === 1 ? "The only pod runs" : `All ${format.count(placed)} pods run`) : "The cluster is empty"}: add a pod under Cluster`;
    place("verdict").textContent = difference ? sentence(difference.words) : summary.pods ? verdict : idle;
  }

  showViews(pinned) {
    const views = [["now", "one map"], ...pinned.map((name) => [`${name}|now`, `${name} beside now`]), ...(pinned.length > 1 ? [["A|B", "A beside B"]] : [])];
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
      const found = await this.line.add(async () => {
        const one = await ask("explain", this.state, { pod }), close = node === null ? null : await ask("explain", this.state, { pod, node });
        return { ...one, closeUp: close?.closeUp ?? null, nodeWords: close?.verdict };
      }, "why");
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
    const saved = async (event, name) => {
      const link = event.currentTarget;
      if (link.href.startsWith("blob:")) return; // it is the click that downloads
      event.preventDefault();
      const found = await this.trying(() => ask("save", this.state));
      if (!found) return;
      link.href = URL.createObjectURL(new Blob([found[name]], { type: "text/plain" }));
      link.click();
      URL.revokeObjectURL(link.href);
      link.href = "#";
    };
    place("saves").querySelector(".sheet").append(...Object.entries(SAVES).map(([name, title]) => make("a", { href: "#", download: name, onclick: (event) => saved(event, name) }, title)));
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

document.lab = new Lab(await ask("start", null));
document.lab.look().then(() => document.lab.parts.presets.open());
addEventListener("resize", () => cut(place("list")));
