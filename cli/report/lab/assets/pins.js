// Two configurations side by side: pinned, compared in numbers, and drawn beside the current one.
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

  show() {
    const { model, states } = this.lab, there = PINS.filter((name) => states.pins[name] && model.others.get(name));
    if (!there.length) { this.body.replaceChildren(); return; }
    const sides = [{ name: "Now", state: states.now.state, answer: model }, ...there.map((name) => ({ name: `Pin ${name}`, state: states.pins[name].state, answer: model.others.get(name) }))];
    const row = (title, value) => make("tr", {}, make("th", { scope: "row" }, title), sides.map((side) => make("td", { class: "n" }, value(side))));
    const rules = ({ state }) => [...Object.entries(state.weights).map(([name, weight]) => `${name} ${weight}`), ...Object.entries(state.switches).map(([name, on]) => `${name} ${on ? "on" : "off"}`)].join(", ") || "none moved";
    const use = (resource) => ({ answer }) => { const found = answer.summary.resources.find((one) => one.resource === resource); return found ? [whole(format.share(found.use)), " ", whole(`± ${format.share(found.imbalance.standardDeviation)}`)] : "-"; };
    const resources = model.summary.resources.filter((one) => one.allocatable).map((one) => one.resource).slice(0, 4), count = (name) => ({ answer }) => format.count(answer.summary[name]);
    const table = make("table", {}, make("thead", {}, make("tr", {}, make("td", {}), sides.map(({ name }) => make("th", { scope: "col", class: "n" }, name)))),
      make("tbody", {}, row("Release", ({ state }) => state.scheduler.release), row("Rules", ({ state, answer }) => states.source(state, model.providers, answer.rules)), row("Moved", rules),
        row("Pods placed", count("placed")), row("Without a node", count("unschedulable")), row("Had to leave", count("evicted")),
        resources.map((name) => row(`${name} in use, ± deviation`, use(name)))));
    const free = there.map((name) => make("button", { type: "button", onclick: () => this.lab.act({ do: "unpin", pin: name }) }, `Unpin ${name}`));
    this.body.replaceChildren(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Configurations side by side" }, table), make("div", { class: "line" }, free));
  }
}
