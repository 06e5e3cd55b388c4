// Asks the server: one question at a time, so that answers come in order.
const base = new URL(".", location.href), LINES = "application/x-ndjson";

export class Trouble extends Error {
  constructor(text, field) {
    super(text);
    this.field = field || "";
  }
}

/**
 * The answer to a question about a state; throws Trouble with one line that says what is wrong. *onPart* gets what is known before the
 * rest; *signal* ends the search.
 */
export async function ask(question, state, options = {}, cluster = null, { onPart, signal } = {}) {
  let response, found;
  try {
    response = await fetch(new URL("ask", base), {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ question, state, options, cluster }), signal,
    });
    found = response.headers.get("content-type") === LINES ? await answerOf(response.body, onPart) : await response.json();
  } catch {
    if (signal?.aborted) throw new Trouble("Stopped by the next question.");
    if (!response) throw new Trouble("the lab does not answer: is it still running? What was tried is kept as long as it runs.");
    found = { trouble: `the lab answered ${response.status}` };
  }
  if (!response.ok || found.trouble) throw new Trouble(found.trouble ?? found.error);
  return found;
}

/** The answer in *body*, which is the last of its lines of JSON; *onPart* gets the parts before it as they come. */
async function answerOf(body, onPart) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", answer = { trouble: "the lab broke off its answer" };
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const lines = (text + value).split("\n");
    text = lines.pop();
    for (const found of lines.map((line) => JSON.parse(line))) {
      if (found.part) onPart?.(found.part);
      else answer = found;
    }
  }
  return answer;
}

/**
 * Runs jobs one after the other, each with a signal. Of jobs with the same key that still wait, only the latest runs: a slider that moves
 * on. A job that gives way is ended by the next one.
 */
export class Line {
  constructor() {
    this.waiting = [];
    this.busy = false;
    this.yielding = null;
  }

  add(job, key = null, givesWay = false) {
    this.yielding?.abort();
    return new Promise((done, failed) => {
      if (key !== null) {
        for (const other of this.waiting.filter((one) => one.key === key)) other.done(null);
        this.waiting = this.waiting.filter((one) => one.key !== key);
      }
      this.waiting.push({ job, key, done, failed, givesWay });
      this.next();
    });
  }

  async next() {
    if (this.busy || !this.waiting.length) return;
    this.busy = true;
    const { job, done, failed, givesWay } = this.waiting.shift(), ending = new AbortController();
    this.yielding = givesWay ? ending : null;
    try { done(await job(ending.signal)); } catch (error) { failed(error); }
    [this.busy, this.yielding] = [false, null];
    this.next();
  }
}
