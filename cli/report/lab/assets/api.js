// Asks the server: one question at a time, so that answers come in order.
const base = new URL(".", location.href);

export class Trouble extends Error {
  constructor(text, field) {
    super(text);
    this.field = field || "";
  }
}

/** The answer to a question about a state; throws Trouble with one line that says what is wrong. */
export async function ask(question, state, options = {}, cluster = null) {
  let response;
  try {
    response = await fetch(new URL("ask", base), {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ question, state, options, cluster }),
    });
  } catch {
    throw new Trouble("the lab does not answer: is it still running? What was tried is kept as long as it runs.");
  }
  const found = await response.json().catch(() => ({ trouble: `the lab answered ${response.status}` }));
  if (!response.ok || found.trouble) throw new Trouble(found.trouble ?? found.error);
  return found;
}

/** Runs jobs one after the other. Of jobs with the same key that still wait, only the latest runs: a slider that moves on. */
export class Line {
  constructor() {
    this.waiting = [];
    this.busy = false;
  }

  add(job, key = null) {
    return new Promise((done, failed) => {
      if (key !== null) {
        for (const other of this.waiting.filter((one) => one.key === key)) other.done(null);
        this.waiting = this.waiting.filter((one) => one.key !== key);
      }
      this.waiting.push({ job, key, done, failed });
      this.next();
    });
  }

  async next() {
    if (this.busy || !this.waiting.length) return;
    this.busy = true;
    const { job, done, failed } = this.waiting.shift();
    try { done(await job()); } catch (error) { failed(error); }
    this.busy = false;
    this.next();
  }
}
