// The states of this lab and what can be done: each action gives another state, and says what it did in words.
import { Trouble, ask } from "./api.js";

const KEY = `kubeclassic-lab-${location.pathname}`, MOST = 500;
export const DEFAULT_PROFILE = "the default profile";
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const without = (found, name) => Object.fromEntries(Object.entries(found).filter(([key]) => key !== name));
/** Settings of the page -> the option of the scheduler. */
export const SETTINGS = { percentage: "percentage_of_nodes_to_score", hardPodAffinityWeight: "hard_pod_affinity_weight", seed: "seed", tieBreak: "tie_break", preemption: "preemption" };

/** A list of states, which all pages of one lab share and keep until the lab ends. */
export class States {
  constructor(start) {
    this.start = start;
    this.take(localStorage.getItem(KEY)); // a page that is opened again
  }

  take(text) {
    const found = text ? JSON.parse(text) : { history: [{ number: 0, state: this.start, did: "the start" }], at: 0, pins: {}, loaded: [], made: 0 };
    Object.assign(this, found);
  }

  keep() {
    const { history, at, pins, loaded, made } = this;
    localStorage.setItem(KEY, JSON.stringify({ history, at, pins, loaded, made }));
  }

  get now() { return this.history[this.at]; }

  /** Goes to *state* by a new step; while a slider moves, or a drag goes on, it stays one step. */
  go(state, did, drag = false) {
    const more = drag && this.at > 0 && this.now.did.split(" to ")[0] === did.split(" to ")[0];
    this.made += 1;
    this.history = [...this.history.slice(0, more ? this.at : this.at + 1), { number: this.made, state, did }];
    if (this.history.length > MOST) this.history.splice(1, 1);
    this.at = this.history.length - 1;
  }

  /** The state before, the first one, or a pinned one. */
  other(against) {
    return against === "step" ? this.history[this.at - 1] : against === "start" ? this.history[0] : this.pins[against];
  }

  /** The rules that can be chosen: providers, the default profile, what the lab was started with, and what was loaded. */
  sources(providers, rules) {
    const given = ["policy", "profile"].filter((kind) => this.start.scheduler[kind]).map((kind) => ({ name: "as given", kind, value: this.start.scheduler[kind] }));
    const all = [...given, ...this.loaded, ...providers.map((name) => ({ name, kind: "provider", value: name })), { name: DEFAULT_PROFILE, kind: "profile", value: null }];
    return all.filter(({ kind, value }) => (rules.profiles ? kind === "profile" && (!value || rules.reads.includes(value.apiVersion.split("/").at(-1))) : kind !== "profile"));
  }

  /** The name of the rules in *state*. */
  source(state, providers, rules) {
    const { policy, profile, provider } = state.scheduler, value = rules.profiles ? profile ?? null : policy ?? provider ?? providers[0];
    return this.sources(providers, rules).find((one) => same(one.value, value))?.name ?? (rules.profiles ? DEFAULT_PROFILE : "a Policy");
  }
}

const withRules = (state, { kind, value }) => ({ ...state, weights: {}, switches: {},
  scheduler: { ...state.scheduler, ...(kind === "profile" ? {} : { provider: null, policy: null }), [kind]: value } });

/** What *action* makes of *state*: the next one, what was done, and the part of the page that errors are about. */
export async function changed(action, state, lab) {
  const { model, states } = lab, { rules } = model, { scheduler, edits } = state, edited = (...texts) => ({ ...state, edits: [...edits, ...texts] });
  const moved = (name, value) => ({ ...state, scheduler: { ...scheduler, [name]: value } });
  switch (action.do) {
    case "weight": {
      const { rule, weight } = action, base = Object.fromEntries(rules.scorers)[rule];
      return { state: { ...state, weights: weight === base ? without(state.weights, rule) : { ...state.weights, [rule]: weight } }, did: `weight of ${rule} to ${weight}`, field: `weight:${rule}` };
    }
    case "switch": {
      const { rule, on } = action, base = rules.filters.find(([name]) => name === rule)?.[1];
      return { state: { ...state, switches: on === base ? without(state.switches, rule) : { ...state.switches, [rule]: on } }, did: `${rule} ${on ? "on" : "off"}`, field: "switch" };
    }
    case "set":
      return { state: action.name === "order" ? { ...state, order: action.value } : moved(SETTINGS[action.name], action.value), did: `${action.name} to ${action.value ?? "the default"}`, field: action.name };
    case "release": return { state: moved("release", action.value), did: `release ${action.value}`, field: "release" };
    case "source": {
      const source = states.sources(model.providers, rules).find((one) => one.name === action.key);
      return { state: withRules(state, source), did: `rules of ${source.name}`, field: "source" };
    }
    case "load": {
      const found = await ask("load", null, { text: action.text, name: action.name }), kind = found.profile ? "profile" : "policy";
      const source = { name: action.name, kind, value: found[kind] };
      states.loaded = [source, ...states.loaded.filter((one) => one.name !== source.name)];
      if (!states.sources(model.providers, rules).some((one) => same(one.value, source.value))) {
        throw new Trouble(`${source.name}: release ${scheduler.release} expects ${rules.profiles ? `a configuration of ${rules.reads.join(" or ")}` : "a Policy or a provider"}`, "source");
      }
      return { state: withRules(state, source), did: `rules of ${source.name}`, field: "source" };
    }
    case "edit": {
      const texts = (action.texts ?? [action.text]).map((text) => text.split(/\s*\n\s*/).join(" ").trim());
      return { state: edited(...texts), did: texts.join("; "), field: action.field ?? "edit" };
    }
    case "unedit": return { state: { ...state, edits: edits.filter((_, at) => at !== action.at) }, did: `without: ${edits[action.at]}`, field: "edit" };
    case "copy": return { state: edited(`copy node ${action.node} x${action.count}`), did: `${action.count} ${action.count === 1 ? "node" : "nodes"} like ${action.node}`, field: "copy" };
    case "cordon": return { state: edited(`node ${action.node} unschedulable=true`), did: `${action.node} cordoned`, field: "node" };
    case "uncordon": {
      const text = `node ${action.node} unschedulable=true`, kept = edits.filter((one) => one !== text);
      return { state: kept.length < edits.length ? { ...state, edits: kept } : edited(`node ${action.node} unschedulable-`), did: `${action.node} takes pods again`, field: "node" };
    }
    case "drain": return { state: edited(`drain node ${action.node}`), did: `${action.node} drained`, field: "node" };
    case "delete": return { state: edited(`delete pod ${action.pod}`), did: `${action.pod} deleted`, field: "node" };
    case "add": return { state: { ...state, pods: [...state.pods, action.manifest] }, did: `${action.manifest.metadata.name} added`, field: "add" };
    case "unadd": return { state: { ...state, pods: state.pods.filter((_, at) => at !== action.at) }, did: `without ${state.pods[action.at].metadata.name}`, field: "add" };
    case "reset": return { state: states.history[0].state, did: "back to the start" };
    case "restore": return { state: action.state, did: "the state of a link" };
    default: throw new Trouble(`there is no "${action.do}" to do`);
  }
}
