// Two configurations side by side: pinned, compared in numbers, and drawn beside the current one.
import { ask } from "./api.js";
import { Placement, plotOf } from "./model.js";
const { make, format } = kubeclassic;

const whole = (text) => make("span", { class: "whole" }, text);
export const PINS = ["A", "B"];

export class Pins {
  constructor(lab) {
    this.lab = lab;
    this.place = document.getElementById("pins");
    this.body = make("div", {});
    this.place.append(make("h2", {}, "Side by side"), make("p", { class: "soft" }, "Pin what you see now, go on, and compare."),
      make("div", { class: "line" }, PINS.map((name) => make("button", { type: "button", onclick: () => this.pin(name) }, `Pin as ${name}`))), this.body);
  }

  async pin(name) {
    await this.lab.act({ do: "pin", pin: name });
    this.lab.against.value = name;
    this.lab.view.value = `${name}|now`;
    this.lab.look();
  }

  /** The placements of what is pinned, asked for where they are not known. */
  async fetch() {
    const { model } = this.lab;
    for (const name of PINS) {
      const pinned = model.session.pins[name], known = model.others.get(name);
      if (!pinned) { model.others.delete(name); continue; }
      if (known?.number === pinned.number && known.placement.plot.number === (known.own ?? model.plot.number)) continue;
      const found = await ask("placement", { of: name, plot: model.plot.number }), plot = found.plot ? plotOf(found.plot, model.plot) : model.plot;
      const placement = new Placement(plot);
      placement.apply(found.placement);
      model.others.set(name, { number: found.number, placement, own: plot.number, summary: found.summary });
    }
  }

  show(session, summary) {
    const there = PINS.filter((name) => session.pins[name]);
    if (!there.length) { this.body.replaceChildren(); return; }
    const sides = [["now", { ...session, summary, did: session.history[session.at].did }], ...there.map((name) => [name, session.pins[name]])];
    const row = (title, value) => make("tr", {}, make("th", { scope: "row" }, title), sides.map(([, side]) => make("td", { class: "n" }, value(side))));
    const rules = (side) => [...Object.entries(side.weights).map(([name, weight]) => `${name} ${weight}`), ...Object.entries(side.switches).map(([name, on]) => `${name} ${on ? "on" : "off"}`)].join(", ") || "none moved";
    const use = (resource) => (side) => { const found = side.summary.resources.find((one) => one.resource === resource); return found ? [whole(format.share(found.use)), " ", whole(`± ${format.share(found.imbalance.standardDeviation)}`)] : "-"; };
    const resources = summary.resources.filter((one) => one.allocatable).map((one) => one.resource).slice(0, 4);
    const table = make("table", {}, make("thead", {}, make("tr", {}, make("td", {}), sides.map(([name]) => make("th", { scope: "col", class: "n" }, name === "now" ? "Now" : `Pin ${name}`)))),
      make("tbody", {}, row("Release", (side) => side.release), row("Rules", (side) => side.source.name), row("Moved", rules), row("Pods placed", (side) => format.count(side.summary.placed)),
        row("Without a node", (side) => format.count(side.summary.unschedulable)), row("Had to leave", (side) => format.count(side.summary.evicted)),
        resources.map((name) => row(`${name} in use, ± deviation`, use(name)))));
    const free = there.map((name) => make("button", { type: "button", onclick: () => this.lab.act({ do: "unpin", pin: name }) }, `Unpin ${name}`));
    this.body.replaceChildren(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Configurations side by side" }, table), make("div", { class: "line" }, free));
  }
}
