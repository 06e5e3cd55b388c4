// Why a pod goes there, and why not elsewhere: a sentence, then a matrix of nodes by rules, with scores and the winner.
import { Help } from "./help.js";
import { parted } from "./tip.js";
const { make, coloured, format } = kubeclassic;

const COLOURS = 8, SHOWN = 25;

export class Why {
  constructor(lab) {
    this.lab = lab;
    this.place = document.getElementById("why");
    this.help = new Help(lab);
    this.nothing();
  }

  nothing() {
    this.place.replaceChildren(make("h2", {}, "Why this node?"),
      make("p", { class: "soft" }, "Choose a pod in the list below the map, and then a node, to see what the rules say of them."));
  }

  wait(pod, node) {
    this.place.setAttribute("aria-busy", "true");
    if (!this.place.querySelector("h3")) this.place.replaceChildren(make("h2", {}, "Why this node?"), make("h3", {}, pod));
    this.asked = { pod, node };
  }

  fail(error) {
    this.place.removeAttribute("aria-busy");
    this.place.replaceChildren(make("h2", {}, "Why this node?"), make("p", { class: "fault", role: "alert" }, error.message));
  }

  show(found, node) {
    const { closeUp, placedOn, pod, host, verdict } = found, at = this.lab.model.plot.podAt.get(pod), now = this.lab.placement.host(pod);
    const end = now === (placedOn ?? host) ? "" : now ? ` In the end it is on ${now}, where it has made room.` : ` In the end it has no node: ${this.lab.placement.whys[at] ?? ""}.`;
    this.place.removeAttribute("aria-busy");
    this.place.replaceChildren(
      make("h2", {}, "Why this node?"), make("h3", {}, pod),
      make("p", { class: "verdict", "aria-live": "polite" }, verdict + end), this.help.show(pod, host), make("p", { class: "soft" }, placedOn ? `Evaluated as if it were not on ${placedOn} yet.` : "Evaluated after the pods before it."),
      node ? make("p", { class: "note" }, found.nodeWords) : make("p", { class: "soft" }, "Choose a node to ask: why not there?"),
      ...(closeUp ? this.closeUp(closeUp) : []), ...this.reasons(found), ...this.eviction(found), ...this.matrix(found, node),
    );
  }

  closeUp(close) {
    const rows = close.verdicts.map((one) => make("tr", {}, make("td", {}, parted(one.rule)), make("td", { class: one.outcome === "fails" ? "no" : one.outcome === "passes" ? "yes" : "open" },
      one.outcome), make("td", {}, one.reasons.join("; ") || (one.concerned ? "" : "does not concern the pod"))));
    const room = close.room.map((one) => make("tr", {}, make("td", {}, one.resource), ...[one.asked, one.free, one.allocatable].map((value) => make("td", { class: "n" }, this.amount(one.resource, value)))));
    return [make("details", { open: true }, make("summary", {}, `What each rule says of ${close.node}`), table(["Rule", "Says", "Because"], rows),
      table(["Resource", "Pod", "Free", "Node"], room, 1, "room"), close.victims?.length ? make("p", {}, `Room could be made by evicting ${close.victims.map((one) => one.pod ?? one.key ?? one.name).join(", ")}.`) : null)];
  }

  amount(resource, value) {
    return resource === "cpu" ? format.cores(value) : /memory|storage/.test(resource) ? format.bytes(value) : format.count(value);
  }

  reasons(found) {
    if (!found.reasons.length) return [];
    const rows = found.reasons.map((one) => make("tr", {}, make("td", {}, one.reason), make("td", {}, format.count(one.count)), make("td", {}, one.rules.flatMap((rule, at) => [at ? ", " : "", ...parted(rule)]))));
    return [make("details", { open: !found.host }, make("summary", {}, `${format.count(found.counts.turnedDown)} of ${format.count(found.counts.visited)} nodes do not fit`), table(["Reason", "Nodes", "Rule"], rows))];
  }

  eviction(found) {
    const node = found.eviction?.node;
    return node ? [make("p", { class: "note" }, `Evicting pods on ${node} makes room for it.`)] : [];
  }

  matrix(found, node) {
    const asked = found.nodes.find((one) => one.node === node), listed = [...found.nodes.filter((one) => one === asked && node !== found.host), ...found.nodes.filter((one) => one !== asked || node === found.host)];
    const weights = new Map(listed.flatMap(({ scores }) => Object.entries(scores ?? {}).map(([name, { weight }]) => [name, weight])));
    const reasons = (one) => Object.fromEntries(one.objections?.length ? one.objections.map(({ rule, reasons: texts }) => [rule, texts]) : (one.predicates ?? one.plugins ?? []).map((rule) => [rule, one.reasons]));
    const matrix = { nodes: found.counts.nodes, filters: found.rules.map(({ rule }) => rule), scorers: [...weights].map(([name, weight]) => ({ name, weight })),
      rows: listed.map((one) => [one.node, one.fits, one.visited, reasons(one), Object.fromEntries(Object.entries(one.scores ?? {}).map(([name, { reduced, weight }]) => [name, [reduced, weight]])), one.total]) };
    if (!matrix.rows.length) return [];
    const failing = new Set(matrix.rows.flatMap((row) => Object.keys(row[3]))), filters = matrix.filters.filter((name) => failing.has(name));
    const others = [...failing].filter((name) => !filters.includes(name)), columns = [...filters, ...others];
    const scorers = matrix.scorers.filter(({ name }) => matrix.rows.some((row) => row[4][name]));
    const hasTotals = matrix.rows.some((row) => row[5] !== null), colour = (at) => `var(--c${at % COLOURS})`, decided = found.choice?.decided;
    const differing = scorers.filter(({ name }) => new Set(matrix.rows.filter((row) => row[5] !== null).map((row) => row[4][name]?.[0])).size > 1);
    const shown = differing.length ? differing : scorers, part = (score) => (score ? score[0] * score[1] : 0);
    const best = Math.max(1, ...matrix.rows.map((row) => shown.reduce((sum, { name }) => sum + part(row[4][name]), 0)));
    const bar = (row) => {
      const made = make("span", { class: "scorebar", role: "img", "aria-label": shown.map(({ name }) => `${name} ${part(row[4][name])}`).join(", ") });
      shown.forEach(({ name }, at) => {
        const piece = coloured("i", colour(at), { title: `${name}: ${row[4][name]?.[0] ?? 0} × ${row[4][name]?.[1] ?? 0}` });
        piece.style.width = `${(100 * part(row[4][name])) / best}%`;
        made.append(piece);
      });
      return made;
    };
    const line = (row) => make("tr", { class: `${row[0] === found.host ? "winner" : ""} ${row[0] === node ? "asked" : ""}` },
      make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => this.lab.chooseNode(row[0]) }, row[0]),
        make("small", {}, row[0] === found.host ? "taken" : row[1] ? (row[2] ? "" : "not reached") : "does not fit")),
      hasTotals ? [make("td", { class: "n" }, row[5] === null ? "" : format.count(row[5])), make("td", {}, row[5] === null || !differing.length ? "" : bar(row))] : null,
      columns.map((name) => (row[3][name] ? make("td", { class: "no", title: row[3][name].join("; ") }, "no") : make("td", { class: "yes" }, row[1] ? "yes" : ""))));
    const body = make("tbody", {}, matrix.rows.slice(0, SHOWN).map(line));
    const more = matrix.rows.length > SHOWN ? make("button", { type: "button", onclick: () => { body.replaceChildren(...matrix.rows.map(line)); more.remove(); } },
      `Show ${matrix.rows.length - SHOWN} more nodes${matrix.nodes > matrix.rows.length ? `; there are ${format.count(matrix.nodes)}` : ""}`) : null;
    const legend = !differing.length ? make("p", { class: "soft" }, "All nodes here that fit have the same score by every rule.") : make("ul", { class: "legend" }, shown.map(({ name, weight }, at) => make("li", { class: name === decided ? "deciding" : "" }, coloured("span", colour(at), { class: "dot" }), `${name} × ${weight}${name === decided ? ", decides" : ""}`)));
    const same = differing.length && scorers.length > differing.length ? make("p", { class: "soft" }, `The same for all nodes: ${scorers.filter((one) => !differing.includes(one)).map(({ name }) => name).join(", ")}.`) : null;
    return [make("h3", {}, "Nodes by rules"), shown.length ? legend : null, same, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Nodes by rules" },
      make("table", { class: "matrix" }, make("thead", {}, make("tr", {}, make("td", {}), hasTotals ? [make("th", { scope: "col", class: "n" }, "Total"), make("th", { scope: "col" }, "Scores")] : null, columns.map((name) => make("th", { scope: "col", class: "rule" }, make("span", {}, name))))), body)), more].filter(Boolean);
  }
}

function table(heads, rows, numbers = heads.length, kind = null) {
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": heads.join(", ") }, make("table", { class: kind }, make("thead", {}, make("tr", {}, heads.map((head, at) => make("th", { scope: "col", class: at >= numbers ? "n" : null }, head)))), make("tbody", {}, rows)));
}
