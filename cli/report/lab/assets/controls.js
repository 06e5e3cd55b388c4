// The configuration: release, source of the rules, sliders of weights, switches of filters, settings.
import { SETTINGS } from "./states.js";
import { parted } from "./tip.js";
const { make, options } = kubeclassic;

const LINEAR = 20;

/** A slider's range for a weight: small weights have one of their own. */
const topOf = (rule) => (Math.max(rule.weight, rule.default) > LINEAR ? Math.max(rule.weight, rule.default) * 2 : LINEAR);

export class Controls {
  constructor(lab) {
    this.lab = lab;
    this.places = Object.fromEntries(["source", "scorers", "filters", "settings"].map((id) => [id, document.getElementById(id)]));
    this.sliders = new Map();
    this.setUpSource();
    this.setUpSettings();
  }

  setUpSource() {
    const { lab } = this;
    this.release = make("select", { onchange: () => lab.act({ do: "release", value: this.release.value }) });
    this.rules = make("select", { onchange: () => lab.act({ do: "source", key: this.rules.value }) });
    this.file = make("input", { type: "file", accept: ".json,.yaml,.yml", onchange: () => this.load() });
    this.places.source.append(
      make("div", { class: "fields" },
        make("label", {}, "Release", this.release), make("label", {}, "Rules of", this.rules),
        make("label", { class: "wide" }, "Load a Policy or a profile", this.file)),
      make("p", { class: "fault", "data-field": "source", hidden: true }), make("p", { class: "fault", "data-field": "release", hidden: true }),
    );
  }

  async load() {
    const [file] = this.file.files;
    if (!file) return;
    const text = await file.text();
    this.file.value = "";
    this.lab.act({ do: "load", name: file.name, text });
  }

  setUpSettings() {
    const { lab } = this, number = (name, least, most) => {
      const box = make("input", { type: "number", min: least, max: most, step: 1, onchange: () => {
        lab.act({ do: "set", name, value: box.value === "" ? null : Number(box.value) });
      } });
      return box;
    };
    const select = (name) => {
      const box = make("select", { onchange: () => lab.act({ do: "set", name, value: box.value }) });
      return box;
    };
    this.boxes = {
      percentage: number("percentage", 0, 100), hardPodAffinityWeight: number("hardPodAffinityWeight", 0, 100),
      seed: number("seed", 0, 2 ** 31), order: select("order"), tieBreak: select("tieBreak"),
    };
    const slide = make("input", { type: "range", min: 0, max: 100, "aria-label": "Percentage of nodes to score",
      oninput: () => lab.act({ do: "set", name: "percentage", value: Number(slide.value), drag: true }, "percentage") });
    this.percentage = slide;
    const titles = {
      percentage: "Percentage of nodes to score (empty: the release's own)", hardPodAffinityWeight: "Weight of required affinity in scoring (empty: the rules' own)",
      order: "Order in which pods are tried", tieBreak: "Among best nodes", seed: "Seed, for what is random",
    };
    for (const [name, title] of Object.entries(titles)) {
      this.places.settings.append(make("div", { class: "setting" }, make("label", {}, title, this.boxes[name]),
        name === "percentage" ? slide : null, make("p", { class: "fault", "data-field": name, hidden: true })));
    }
    this.preemption = make("input", { type: "checkbox", onchange: () => lab.act({ do: "set", name: "preemption", value: this.preemption.checked }) });
    this.places.settings.append(make("label", { class: "check" }, this.preemption, "Pods may make others leave (preemption)"));
  }

  show() {
    const { state, model, states } = this.lab, { rules, releases, providers } = model, { scheduler } = state;
    const session = { order: state.order, ...Object.fromEntries(Object.entries(SETTINGS).map(([name, option]) => [name, scheduler[option] ?? null])) };
    session.scorers = rules.scorers.map(([name, base]) => ({ name, default: base, weight: state.weights[name] ?? base })).sort((one, other) => (one.default === 0) - (other.default === 0));
    session.filters = rules.filters.map(([name, base, mandatory, runs]) => ({ name, default: base, on: state.switches[name] ?? base, mandatory, runs }));
    options(this.release, releases.map((one) => [one, one]), scheduler.release);
    options(this.rules, states.sources(providers, rules).map(({ name }) => [name, name]), states.source(state, providers, rules));
    const fixed = rules.fixed ? `${scheduler.release} runs its default plugins as they are, besides those of a profile: choose another release` : "";
    session.fixed = fixed;
    if (fixed) this.showFixed(session);
    else { this.showScorers(session.scorers); this.showFilters(session.filters); }
    for (const one of document.querySelectorAll(".presets [data-moves]")) { one.disabled = Boolean(fixed); one.title = fixed || one.dataset.moves; }
    options(this.boxes.order, model.orders.map((one) => [one, one]), session.order);
    options(this.boxes.tieBreak, model.tieBreaks.map((one) => [one, one]), session.tieBreak);
    for (const name of ["percentage", "hardPodAffinityWeight", "seed"]) {
      if (document.activeElement !== this.boxes[name]) this.boxes[name].value = session[name] ?? "";
    }
    if (document.activeElement !== this.percentage) this.percentage.value = session.percentage ?? 0;
    this.preemption.checked = session.preemption;
    const moved = ["percentage", "hardPodAffinityWeight"].filter((name) => session[name] !== null).length;
    document.getElementById("set").textContent = moved ? `${moved} set` : "";
  }

  /** Rules that no file can move: why not, and which there are. */
  showFixed({ fixed, scorers, filters }) {
    const why = () => make("p", { class: "fixed" }, `${fixed}.`), list = (rules, more) => make("ul", { class: "plain" }, rules.map((rule) => make("li", {}, parted(rule.name), more(rule))));
    this.scorerKey = null;
    this.places.scorers.replaceChildren(why(), list(scorers, (rule) => ` × ${rule.weight}`));
    this.places.filters.replaceChildren(why(), list(filters.filter((rule) => rule.on), () => ""));
    for (const [id, rules] of [["scored", scorers], ["filtered", filters]]) document.getElementById(id).textContent = `${rules.length} as they are`;
  }

  showScorers(rules) {
    const key = rules.map((rule) => rule.name).join();
    if (key !== this.scorerKey) {
      this.scorerKey = key;
      this.sliders.clear();
      const [used, free] = [rules.filter((rule) => rule.default || rule.weight), rules.filter((rule) => !rule.default && !rule.weight)];
      const more = free.length ? [make("details", {}, make("summary", {}, `${free.length} more that could score`), free.map((rule) => this.slider(rule)))] : [];
      this.places.scorers.replaceChildren(...used.map((rule) => this.slider(rule)), ...more);
    }
    for (const rule of rules) this.sliders.get(rule.name)(rule);
    const moved = rules.filter((rule) => rule.weight !== rule.default).length;
    document.getElementById("scored").textContent = moved ? `${moved} moved` : "";
  }

  slider(rule) {
    const { lab } = this;
    const send = (value, drag) => lab.act({ do: "weight", rule: rule.name, weight: value, drag }, `weight ${rule.name}`);
    const range = make("input", { type: "range", min: 0, max: topOf(rule), step: 1, "aria-label": `Weight of ${rule.name}`, "data-rule": rule.name,
      oninput: () => { box.value = range.value; send(Number(range.value), range.dataset.moving === "yes"); range.dataset.moving = "yes"; },
      onchange: () => { range.dataset.moving = ""; } });
    const box = make("input", { type: "number", min: 0, step: 1, "aria-label": `Weight of ${rule.name}, as a number`, onchange: () => send(Number(box.value), false) });
    const back = make("button", { type: "button", class: "back", onclick: () => send(Number(back.dataset.value), false) }, "");
    const line = make("div", { class: "slider" }, make("span", { class: "name" }, parted(rule.name)), box, range, back,
      make("p", { class: "fault", "data-field": `weight:${rule.name}`, hidden: true }));
    this.sliders.set(rule.name, (now) => {
      range.max = topOf(now);
      if (document.activeElement !== range) range.value = now.weight;
      if (document.activeElement !== box) box.value = now.weight;
      line.classList.toggle("moved", now.weight !== now.default);
      line.classList.toggle("off", now.weight === 0);
      back.hidden = now.weight === now.default;
      back.dataset.value = now.default;
      back.textContent = `back to ${now.default}`;
      back.setAttribute("aria-label", `${now.name}: back to ${now.default}`);
    });
    return line;
  }

  showFilters(rules) {
    const shown = rules.map((rule) => {
      const box = make("input", { type: "checkbox", "data-rule": rule.name, disabled: rule.mandatory,
        onchange: () => this.lab.act({ do: "switch", rule: rule.name, on: box.checked }) });
      box.checked = rule.on;
      const told = rule.mandatory ? "always runs" : rule.runs ? (rule.on === rule.default ? "" : "moved") : "is accepted, never runs";
      return make("label", { class: `check${rule.on === rule.default ? "" : " moved"}` }, box, make("span", { class: "name" }, parted(rule.name)), make("small", {}, told));
    });
    const focus = document.activeElement?.dataset?.rule, inside = this.places.filters.contains(document.activeElement);
    this.places.filters.replaceChildren(...shown, make("p", { class: "fault", "data-field": "switch", hidden: true }));
    if (inside && focus) this.places.filters.querySelector(`[data-rule="${CSS.escape(focus)}"]`)?.focus();
    const off = rules.filter((rule) => rule.on !== rule.default).length;
    document.getElementById("filtered").textContent = off ? `${off} moved` : `${rules.filter((rule) => rule.on).length} on`;
  }
}
