// What helps with the chosen pod: changes that apply themselves, how many more like it fit, and where each release puts it.
import { ask } from "./api.js";
import { WORDS } from "./model.js";
const { make, format } = kubeclassic;

const AT_ONCE = 20_000; // nodes times waiting pods: up to so many what helps is asked without a click

export class Help {
  constructor(lab) {
    this.lab = lab;
    this.place = make("div", { class: "help" });
  }

  /** The buttons for *pod*; *host*: its node, null for none. */
  show(pod, host) {
    const { plot } = this.lab.model, at = plot.podAt.get(pod), waits = at !== undefined && plot.pods[at][3] < 0;
    this.pod = pod;
    this.answer = make("div", { "aria-live": "polite" });
    const button = (text, path, shown) => make("button", { type: "button", onclick: () => this.ask(path, shown) }, text);
    const helps = waits && host === null;
    this.place.replaceChildren(make("div", { class: "line" }, helps ? button("What would help?", "help", (found) => this.helps(found)) : null,
      button("How many more of this pod?", "more", (found) => this.more(found)), waits ? button("Which release changed it?", "releases", (found) => this.releases(found)) : null), this.answer);
    if (helps && plot.nodes.length * plot.waiting <= AT_ONCE) this.ask("help", (found) => this.helps(found));
    return this.place;
  }

  async ask(path, shown) {
    const { pod, answer } = this;
    answer.replaceChildren(make("p", { class: "soft" }, "working ..."));
    try {
      const found = await this.lab.line.add(() => ask(path, { pod }), "help");
      if (found && answer.isConnected) answer.replaceChildren(...shown(found));
    } catch (error) {
      if (answer.isConnected) answer.replaceChildren(make("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  helps({ suggestions, tried }) {
    if (!suggestions.length) return [make("h4", {}, "What would help"), make("p", {}, `No change helps, nor do two together: ${format.count(tried)} ${tried === 1 ? "decision" : "decisions"} tried.`)];
    const line = (one) => make("li", {}, make("div", {}, `${one.change.charAt(0).toUpperCase()}${one.change.slice(1)}: goes to `, make("b", { class: "name" }, one.host),
      one.victims.length ? `; ${one.victims.join(", ")} must leave` : "", one.evictedBy ? `, until ${one.evictedBy} takes its place` : "", one.effect ? `; ${one.effect}` : ""),
    one.edits ? make("button", { type: "button", title: one.edits.join("; "), "aria-label": `Apply: ${one.change}`, onclick: () => this.lab.act({ do: "edit", texts: one.edits }) }, "Apply")
      : make("code", {}, one.words.join("; ")));
    const group = (title, all) => (all.length ? [make("h4", {}, title), make("ul", { class: "helps" }, all.map(line))] : []);
    return [...group("What would help", suggestions.filter((one) => !one.isCostly)),
      ...group("At a cost: other pods lose their node, or this pod does not keep its own", suggestions.filter((one) => one.isCostly)), make("p", { class: "soft" }, "Undo takes it back.")];
  }

  more({ fits, most, stop, nodes }) {
    const shown = nodes.slice(0, 8).map(([name, count]) => `${name} ${format.count(count)}`).join(", ");
    return [make("h4", {}, `${fits >= most ? `${format.count(fits)} or more` : format.count(fits)} more fit`),
      nodes.length ? make("p", {}, `${shown}${nodes.length > 8 ? ` and ${format.count(nodes.length - 8)} more nodes` : ""}`) : null, make("p", { class: "soft" }, `Then: ${stop}`)].filter(Boolean);
  }

  releases({ releases }) {
    const range = (all) => (all.length > 1 ? `${all[0]} to ${all.at(-1)}` : all[0]);
    const rows = releases.map((one) => make("tr", {}, make("th", { scope: "row" }, range(one.releases)), make("td", {}, one.host ?? `${WORDS.waits}: ${one.message}`),
      make("td", {}, make("button", { type: "button", "aria-label": `Go to release ${one.releases[0]}`, onclick: () => this.lab.act({ do: "release", value: one.releases[0] }) }, "Go"))));
    return [make("h4", {}, releases.length > 1 ? `Release ${releases[1].releases[0]} is the first that changes it` : "No release changes it"),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Where each release puts it" }, make("table", {}, make("tbody", {}, rows)))];
  }
}
