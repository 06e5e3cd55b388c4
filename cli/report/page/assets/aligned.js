"use strict";
// One cycle as several sides judge it: a table whose lines are rules, and whose columns are the nodes in question under each side.
(() => {
  const { make, coloured, details, format } = kubeclassic;

  class View {
    constructor(shared, [title, deciding, judgements]) {
      this.shared = shared;
      this.title = this.text(title);
      this.deciding = this.text(deciding);
      this.judgements = judgements.map(([side, decision, error, chosen, nodes]) => ({
        side, decision: this.text(decision), error: this.text(error), chosen: this.text(chosen), nodes: nodes.map((node) => this.node(node)),
      }));
    }

    text(place) { return this.shared.texts[place]; }

    subject(rule) { return this.shared.subjects[rule] || rule; }

    node([name, state, place, scores, total]) {
      const lines = new Map();
      this.shared.rules[place].forEach(([rule, weight], at) => {
        const subject = this.subject(this.text(rule)), before = lines.get(subject) || [];
        lines.set(subject, [...before, { rule: this.text(rule), score: scores[at], weight }]);
      });
      return { name: this.text(name), state: this.text(state), lines, total };
    }

    shown() {
      const sides = this.judgements.map((one) => this.decided(one));
      const judged = this.judgements.filter((one) => one.nodes.length);
      return make("div", { class: "cycle" }, make("p", {}, make("b", {}, this.title)), make("div", { class: "pair" }, sides), judged.length ? this.table(judged) : null);
    }

    decided({ side, decision, error }) {
      const dot = coloured("span", `var(--c${side % 8})`, { class: "dot", "aria-hidden": "true" });
      return make("div", {}, make("div", {}, dot, make("b", {}, this.shared.sides[side]), `: ${decision}`), error ? make("div", { class: "soft" }, error) : null);
    }

    table(judged) {
      const columns = judged.flatMap((one) => one.nodes.map((node, at) => ({ ...node, one, first: at === 0 })));
      const subjects = [...new Set(columns.flatMap((column) => [...column.lines.keys()]))];
      const sides = judged.map((one) => make("th", { colspan: one.nodes.length, scope: "colgroup" }, coloured("span", `var(--c${one.side % 8})`, { class: "dot", "aria-hidden": "true" }), this.shared.sides[one.side]));
      const heads = columns.map(({ name, one }) => make("th", { scope: "col", class: "n" }, name, name === one.chosen ? make("small", {}, " chosen") : null));
      const table = make("table", { class: "aligned" },
        make("thead", {}, make("tr", {}, make("td", {}), sides), make("tr", {}, make("th", { scope: "col" }, "rule"), heads)),
        make("tbody", {}, this.line("verdict", columns.map(({ state }) => state)), subjects.map((subject) => this.scores(subject, columns)),
          subjects.length ? this.line("total", columns.map(({ total }) => (total === null ? "-" : format.count(total)))) : null));
      return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "rules and nodes" }, table);
    }

    line(name, values) {
      return make("tr", {}, make("th", { scope: "row" }, name), values.map((value) => make("td", { class: "n" }, value)));
    }

    scores(subject, columns) {
      const known = new Set(columns.filter(({ lines }) => lines.has(subject)).map(({ one }) => one));
      const cells = columns.map(({ lines, one }) => make("td", { class: "n" }, lines.has(subject) ? lines.get(subject).map(points) : known.has(one) || !lines.size ? "-" : make("small", {}, "no such rule")));
      const rules = [...new Set(columns.flatMap(({ lines }) => (lines.get(subject) || []).map(({ rule }) => rule)))].filter((rule) => rule !== subject);
      const name = [subject, rules.length ? make("small", {}, ` (${rules.join(", ")})`) : null, subject === this.deciding ? make("span", { class: "tag" }, "decides") : null];
      return make("tr", { class: subject === this.deciding ? "deciding" : null }, make("th", { scope: "row" }, name), cells);
    }
  }

  const points = ({ score, weight }) => make("div", {}, weight === 1 ? format.count(score) : `${format.count(score)} x ${format.count(weight)} = ${format.count(score * weight)}`);

  details.aligned = (cycles, shared) => make("div", {}, cycles.map((cycle) => new View(shared, cycle).shown()));
})();
