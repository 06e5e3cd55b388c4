// What helps with the chosen pod: changes that apply themselves, how many more like it fit, and where each release puts it.
import { ask } from "./api.js";
import { WORDS } from "./model.js";
const { make, format } = kubeclassic;

const MOST = 1000;
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
    const button = (text, onclick) => make("button", { type: "button", onclick }, text);
    const helps = waits && host === null, ask = () => this.present((signal, showing) => this.helps(signal, showing), true);
    this.place.replaceChildren(make("div", { class: "line" }, helps ? button("What would help?", ask) : null,
      button("How many more of this pod?", () => this.present(() => this.more())),
      waits ? button("Which release changed it?", () => this.present(() => this.releases())) : null), this.answer);
    if (helps && plot.nodes.length * plot.waiting <= AT_ONCE) ask();
    return this.place;
  }

  /** Shows what *found* gives, once the questions before it are answered. */
  async present(found, givesWay = false) {
    const { answer } = this, show = (...parts) => answer.isConnected && answer.replaceChildren(...parts);
    show(make("p", { class: "soft" }, "working ..."));
    try {
      const parts = await this.lab.line.add((signal) => found(signal, show), "help", givesWay);
      if (parts) show(...parts);
    } catch (error) {
      answer.lastChild.replaceWith(make("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  /** What would help: each change as soon as it is found, and all of them in order at the end. */
  async helps(signal, show) {
    const soFar = [], title = "What would help";
    const onPart = (part) => {
      if (part.suggestion) soFar.push(this.item(part.suggestion, part.told));
      show(make("h4", {}, title), make("ul", { class: "helps" }, soFar), make("p", { class: "soft" }, `trying ${part.trying ?? "changes"} ...`));
    };
    const { suggestions, tried, told } = await ask("explain", this.lab.state, { pod: this.pod, what_if: true }, null, { onPart, signal });
    if (!suggestions.length) return [make("h4", {}, title), make("p", {}, `No change helps, nor do two together: ${format.count(tried)} ${tried === 1 ? "decision" : "decisions"} tried.`)];
    const group = (heading, wanted) => {
      const all = suggestions.map((one, at) => [one, told[at]]).filter(([, [, isCostly]]) => isCostly === wanted);
      return all.length ? [make("h4", {}, heading), make("ul", { class: "helps" }, all.map((one) => this.item(...one)))] : [];
    };
    return [...group(title, false), ...group("At a cost: other pods lose their node, or this pod does not keep its own", true), make("p", { class: "soft" }, "Undo takes it back.")];
  }

  item({ change, host, patch }, [outcome]) {
    return make("li", {}, make("div", {}, `${change.charAt(0).toUpperCase()}${change.slice(1)}: goes to `, make("b", { class: "name" }, host), outcome.slice(host.length)),
      make("button", { type: "button", title: patch.join("; "), "aria-label": `Apply: ${change}`, onclick: () => this.lab.act({ do: "edit", texts: patch }) }, "Apply"));
  }

  async more() {
    const [namespace, name] = this.pod.split("/"), { manifest } = await ask("manifest", this.lab.state, { kind: "Pod", name: this.pod });
    const { nodeName, ...spec } = manifest.spec, { labels, annotations, ownerReferences } = manifest.metadata;
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: `${name}-more`, namespace, labels, annotations, ownerReferences }, spec };
    const { fits, stop, nodes } = await ask("capacity", this.lab.state, { pod, pending_first: true, max_limit: MOST });
    const shown = Object.entries(nodes).sort((one, other) => other[1] - one[1]);
    return [make("h4", {}, `${fits >= MOST ? `${format.count(fits)} or more` : format.count(fits)} more fit`),
      make("p", {}, `${shown.slice(0, 8).map(([node, count]) => `${node} ${format.count(count)}`).join(", ")}${shown.length > 8 ? ` and ${format.count(shown.length - 8)} more nodes` : ""}`), make("p", { class: "soft" }, `Then: ${stop.message}`)];
  }

  /** Each release is asked in turn; neighbours with the same node, or with none, are one row. */
  async releases() {
    const { state, model } = this.lab, found = [];
    for (const release of model.releases) {
      let host = null, message = "";
      try {
        const { placement } = await model.answer({ ...state, scheduler: { ...state.scheduler, release } });
        [host, message] = [placement.host(this.pod), placement.whys[placement.plot.podAt.get(this.pod)]];
      } catch (error) { ({ message } = error); }
      if (found.at(-1)?.host === host) found.at(-1).releases.push(release);
      else found.push({ releases: [release], host, message });
    }
    const range = (all) => (all.length > 1 ? `${all[0]} to ${all.at(-1)}` : all[0]);
    const rows = found.map((one) => make("tr", {}, make("th", { scope: "row" }, range(one.releases)), make("td", {}, one.host ?? `${WORDS.waits}: ${one.message}`),
      make("td", {}, make("button", { type: "button", "aria-label": `Go to release ${one.releases[0]}`, onclick: () => this.lab.act({ do: "release", value: one.releases[0] }) }, "Go"))));
    return [make("h4", {}, found.length > 1 ? `Release ${found[1].releases[0]} is the first that changes it` : "No release changes it"),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Where each release puts it" }, make("table", {}, make("tbody", {}, rows)))];
  }
}
