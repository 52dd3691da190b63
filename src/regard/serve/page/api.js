// Questions to the server: with a time limit, given up when nobody waits any more, asked again when the server was
// busy or gone, and remembered. In a page that was saved as one file, the answers come from the file instead.

const TIME_LIMIT = 60_000; // the first question may have to wait for a model to load
const REMEMBERED = 300; // answers

/** What the server refused, in its own words. */
export class ApiError extends Error {
  /** @param {number} status @param {string} message @param {string|null} [field] */
  constructor(status, message, field = null) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/** @type {Map<string, {path: string, body: object, answer: any}>} */
const answers = new Map();
/** @type {Map<string, {waiting: number, control: AbortController, answer: Promise<any>}>} */
const flights = new Map();
/** The answers of a saved page, or null where there is a server. */
const saved = readSaved();
for (const one of saved ?? []) answers.set(keyOf(one.path, one.body), one);

const connection = new EventTarget();
let gone = false;
let apiKey = null;

export const isSaved = () => saved !== null;
export const isGone = () => gone;
export const savedAnswers = () => saved ?? [];

/** Be told of "gone" and "back". */
export function onConnection(listener) {
  connection.addEventListener("change", () => listener(gone));
}

/** A server that wants keys gets this one; it is kept for as long as the tab is open. */
export function useKey(key) {
  apiKey = key || null;
}

/**
 * Ask, or take the answer from what was asked before.
 * @param {string} path `/api/…`
 * @param {object|null} body null asks with GET
 * @param {{signal?: AbortSignal, fresh?: boolean}} [how]
 */
export async function ask(path, body = null, { signal, fresh = false } = {}) {
  const key = keyOf(path, body);
  const known = answers.get(key);
  if (known && !fresh) return known.answer;
  if (saved) throw new ApiError(404, "This file holds answers for its own sentences only, and not for this question.");
  return shared(key, signal, async (either) => {
    const answer = await patiently(path, body, either);
    answers.set(key, { path, body, answer });
    if (answers.size > REMEMBERED) answers.delete(answers.keys().next().value);
    return answer;
  });
}

/** Panels that ask the same share one request; it is given up when the last of them has given up. */
function shared(key, signal, start) {
  let flight = flights.get(key);
  if (!flight) {
    const control = new AbortController();
    flight = { waiting: 0, control, answer: start(control.signal).finally(() => flights.delete(key)) };
    flight.answer.catch(() => {}); // those who wait are told
    flights.set(key, flight);
  }
  flight.waiting += 1;
  if (!signal) return flight.answer;
  const left = new Promise((_, reject) => {
    const leave = () => {
      flight.waiting -= 1;
      if (!flight.waiting) {
        flights.delete(key);
        flight.control.abort();
      }
      reject(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  return Promise.race([flight.answer, left]);
}

/** Everything that was asked so far, for saving the page as one file. */
export const remembered = () => [...answers.values()];

/**
 * Read server-sent events of a POST; the browser's own EventSource can only GET.
 * @param {(event: string, data: any) => void} hear
 */
export async function listen(path, body, hear, signal) {
  const response = await send(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const field = (name) =>
        block
          .split(/\r?\n/)
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart());
      const data = field("data").join("\n");
      if (data) hear(field("event")[0] ?? "message", JSON.parse(data));
    }
  }
}

/** Send a form with a file; the answer is a Response. */
export async function upload(path, form, signal) {
  const response = await reach(path, { method: "POST", body: form, headers: headers(), signal });
  if (!response.ok) throw await refusal(response);
  return response;
}

async function patiently(path, body, signal) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await (await send(path, body, signal)).json();
    } catch (error) {
      const wait = error instanceof ApiError && [429, 503].includes(error.status) ? (error.retryAfter ?? 1) : null;
      if (wait === null || wait > 30 || attempt >= 5) throw error;
      await pause(1000 * Math.max(0.3, wait), signal);
    }
  }
}

async function send(path, body, signal) {
  const limit = AbortSignal.timeout(TIME_LIMIT);
  const either = signal ? AbortSignal.any([signal, limit]) : limit;
  const sent =
    body === null
      ? { headers: headers(), signal: either }
      : {
          method: "POST",
          headers: headers({ "Content-Type": "application/json" }),
          body: JSON.stringify(body),
          signal: either,
        };
  try {
    const response = await reach(path, sent);
    if (!response.ok) throw await refusal(response);
    return response;
  } catch (error) {
    if (error.name === "TimeoutError") throw new ApiError(504, `No answer within ${TIME_LIMIT / 1000} seconds.`);
    throw error;
  }
}

/** fetch, and while the server is away: wait until it is back, then ask again. */
async function reach(path, sent) {
  for (;;) {
    try {
      const response = await fetch(path.replace(/^\//, ""), { ...sent, credentials: "omit" });
      announce(false);
      return response;
    } catch (error) {
      if (error.name !== "TypeError") throw error; // fetch says so when nothing answers; aborts have other names
      announce(true);
      await returned(sent.signal);
    }
  }
}

async function returned(signal) {
  for (let wait = 500; ; wait = Math.min(5000, wait * 1.6)) {
    await pause(wait, signal);
    try {
      if ((await fetch("health", { cache: "no-store", signal })).ok) return announce(false);
    } catch (error) {
      if (error.name !== "TypeError") throw error;
    }
  }
}

function announce(now) {
  if (now === gone) return;
  gone = now;
  connection.dispatchEvent(new Event("change"));
}

async function refusal(response) {
  let message = `The server answered ${response.status}.`;
  let field = null;
  try {
    const said = (await response.json()).error;
    message = said?.message ?? (typeof said === "string" ? said : message);
    field = said?.field ?? null;
  } catch {
    // not JSON: a proxy between us, or the server's own last words
  }
  const error = new ApiError(response.status, message, field);
  const after = Number(response.headers.get("Retry-After"));
  error.retryAfter = Number.isFinite(after) && after > 0 ? after : null;
  return error;
}

function headers(more = {}) {
  return apiKey ? { ...more, Authorization: `Bearer ${apiKey}` } : more;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

/** The order of keys and absent values do not change a question. */
function keyOf(path, body) {
  const sorted = (value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(
          Object.keys(value)
            .filter((k) => value[k] !== undefined && value[k] !== null)
            .sort()
            .map((k) => [k, sorted(value[k])]),
        )
      : value;
  return `${path} ${JSON.stringify(sorted(body))}`;
}

function readSaved() {
  const block = document.getElementById("answers");
  return block?.textContent.trim() ? JSON.parse(block.textContent) : null;
}
