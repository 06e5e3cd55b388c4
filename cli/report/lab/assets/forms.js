// Forms for the chosen pod and node: fields with what is there, the edit that they come to in words, and a button that makes it.
import { ask } from "./api.js";
const { make } = kubeclassic;

const POD = [
  ["requests.cpu", "cpu request"], ["requests.memory", "memory request"], ["priority", "Priority"], ["nodeSelector", "Node selector", "key=value, ..."],
  ["tolerations", "Tolerations", "key=value:Effect, ..."], ["topologySpreadConstraints", "Spread", "topologyKey:maxSkew:DoNotSchedule, ..."],
];
const NODE = [
  ["allocatable.cpu", "cpu"], ["allocatable.memory", "Memory"], ["allocatable.pods", "Pods"], ["taints", "Taints", "key=value:Effect, ..."], ["labels", "Labels", "key=value, ..."],
];
const quoted = (word) => (/^[\w.,:=/+*@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
const listed = (value) => value.split(",").map((one) => one.trim()).filter(Boolean);

const pairs = (found) => Object.entries(found ?? {}).map(([key, value]) => `${key}=${value}`);
const keyed = ({ key, operator, value, effect }) => (key ? `${key}${operator !== "Exists" && value ? `=${value}` : ""}${effect ? `:${effect}` : ""}` : "*");

/** What the form of a pod shows, from its manifest. */
function podFields({ metadata, spec }) {
  const containers = spec.containers ?? [{}], { cpu = "", memory = "" } = containers[0].resources?.requests ?? {};
  const spread = (spec.topologySpreadConstraints ?? []).map((one) => `${one.topologyKey}:${one.maxSkew}:${one.whenUnsatisfiable}`);
  return { containers: containers.length, labels: metadata.labels ?? {}, fields: { "requests.cpu": String(cpu), "requests.memory": String(memory), priority: String(spec.priority ?? 0),
    nodeSelector: pairs(spec.nodeSelector), tolerations: (spec.tolerations ?? []).map(keyed), topologySpreadConstraints: spread } };
}

/** The same for a node. */
function nodeFields({ metadata, spec, status }) {
  const had = status?.allocatable ?? {}, amounts = ["cpu", "memory", "pods"].map((name) => [`allocatable.${name}`, String(had[name] ?? "")]);
  return { fields: { ...Object.fromEntries(amounts), taints: (spec?.taints ?? []).map(keyed), labels: pairs(metadata.labels) } };
}

/** The changes, as --set takes them, that make *now*, a text, of *before*. */
function changes(name, before, now, found) {
  if (!Array.isArray(before)) {
    if (now === before) return [];
    return [`${name}${now === "" ? "-" : `=${now}`}`, ...(name === "priority" ? ["priorityClassName-"] : [])];
  }
  const wanted = listed(now), gone = before.filter((one) => !wanted.includes(one)), come = wanted.filter((one) => !before.includes(one));
  if (name === "nodeSelector" || name === "labels") {
    const key = (one) => one.split("=")[0], kept = new Set(come.map(key));
    return [...gone.map(key).filter((one) => !kept.has(one)).map((one) => `${name}.${one}-`), ...come.map((one) => `${name}.${key(one)}=${one.slice(key(one).length + 1)}`)];
  }
  if (name !== "topologySpreadConstraints") return [...gone.map((one) => `${name}-=${one}`), ...come.map((one) => `${name}+=${one}`)];
  return [...gone.map((one) => `${name}-=${one.split(":")[0]}`), ...come.map((one) => {
    const [topologyKey, maxSkew = "1", whenUnsatisfiable = "DoNotSchedule"] = one.split(":");
    return `${name}+=${JSON.stringify({ topologyKey, maxSkew: Number(maxSkew) || maxSkew, whenUnsatisfiable, labelSelector: { matchLabels: found.labels } })}`;
  })];
}

export class Form {
  /** The form of the pod or the node *name*. */
  constructor(lab, kind, name) {
    this.lab = lab;
    this.kind = kind;
    this.name = name;
    this.words = make("code", {});
    this.button = make("button", { type: "submit" }, "Apply");
    this.fields = make("div", { class: "fields two" });
    this.root = make("form", { class: "form", "aria-label": `Edit ${kind} ${name}`, onsubmit: (event) => { event.preventDefault(); this.send(); }, oninput: () => this.tell() },
      this.fields, make("p", { class: "words" }, this.words), this.button);
  }

  /** Fills the fields with what is there now. */
  async load() {
    const kind = this.kind === "pod" ? "Pod" : "Node", answer = await this.lab.trying(() => ask("manifest", this.lab.state, { kind, name: this.name }));
    if (!answer) return;
    const found = this.found = (this.kind === "pod" ? podFields : nodeFields)(answer.manifest);
    this.inputs = (this.kind === "pod" ? POD : NODE).map(([name, title, hint]) => {
      const value = found.fields[name], input = make("input", { type: "text", "data-name": name, placeholder: hint ?? "", spellcheck: "false", value: Array.isArray(value) ? value.join(", ") : value });
      return input;
    });
    const titles = this.kind === "pod" ? POD : NODE;
    this.fields.replaceChildren(...this.inputs.map((input, at) => make("label", { class: titles[at][2] ? "wide" : "" }, titles[at][1] + (found.containers > 1 && at < 2 ? " of each container" : ""), input)));
    this.tell();
  }

  get text() {
    const made = this.inputs.flatMap((input) => changes(input.dataset.name, this.found.fields[input.dataset.name], input.value.trim(), this.found));
    return made.length ? [this.kind, this.name, ...made.map(quoted)].join(" ") : "";
  }

  tell() {
    const { text } = this;
    this.words.textContent = text || "Change a field: the edit in words stands here.";
    this.button.disabled = !text;
  }

  async send() {
    const { text } = this;
    if (text) await this.lab.act({ do: "edit", text });
  }
}
