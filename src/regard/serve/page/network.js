// Requests to the page's own server: with a time limit, asked again when it is busy, and while it is away the page waits
// until it is back.

const TIME_LIMIT = 60_000; // the first question may have to wait for a model to load
const LONG_LIMIT = 600_000; // for files and streams
const ATTEMPTS = 5; // when the server is busy

/** What the server refused, in its own words. */
export class ApiError extends Error {
  /** @param {number} status @param {string} message @param {string|null} [field] */
  constructor(status, message, field = null) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

const connection = new EventTarget();
let gone = false;
let apiKey = null;
let watching = null; // the one who looks whether the server is back

/** @param {(gone: boolean) => void} listener */
export function onConnection(listener) {
  connection.addEventListener("change", () => listener(gone));
}

/** Be told when the server wants an API key, in its words. */
export function onKeyWanted(listener) {
  connection.addEventListener("key", (event) => listener(event.detail));
}

/** A server that wants keys gets this one; it is kept for as long as the tab is open. */
export function useKey(key) {
  apiKey = key || null;
}

/** Ask and read JSON. @param {object|null} body null asks with GET */
export async function askJson(path, body, signal) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await reach(path, json(body), signal, TIME_LIMIT, (response) => response.json());
    } catch (error) {
      const busy = error instanceof ApiError && [429, 503].includes(error.status);
      const wait = error.retryAfter ?? 1; // seconds
      if (!busy || wait > 30 || attempt >= ATTEMPTS) throw error;
      await pause(1000 * Math.max(0.3, wait), signal);
    }
  }
}

/** Send JSON by any method, once, and read JSON. @param {"PUT"|"POST"|"DELETE"} method */
export function sendJson(method, path, body = {}, signal = null) {
  return reach(path, { ...json(body), method }, signal, TIME_LIMIT, (response) => response.json());
}

/** Send a form with a file and read JSON. */
export function sendForm(path, form, signal) {
  return reach(path, { method: "POST", body: form }, signal, LONG_LIMIT, (response) => response.json());
}

/**
 * Read server-sent events of a POST; the browser's own EventSource can only GET.
 * @param {(event: string, data: any) => void} hear
 */
export async function listen(path, body, hear, signal) {
  const stream = await reach(path, json(body), signal, LONG_LIMIT, (response) => response.body);
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
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

function json(body) {
  if (body === null) return {};
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

/** fetch and read; whenever nothing answers, wait until the server is back and ask again. */
async function reach(path, sent, signal, limit, read) {
  for (;;) {
    const late = AbortSignal.timeout(limit);
    const either = signal ? AbortSignal.any([signal, late]) : late;
    const headers = apiKey ? { ...sent.headers, Authorization: `Bearer ${apiKey}` } : sent.headers;
    try {
      const response = await fetch(path.replace(/^\//, ""), { ...sent, headers, signal: either });
      if (!response.ok) throw await refusal(response);
      const found = await read(response);
      announce(false);
      return found;
    } catch (error) {
      if (error.name === "TimeoutError") throw new ApiError(504, `No answer within ${limit / 1000} seconds.`);
      if (error.name !== "TypeError") throw error; // this is what fetch throws when nothing answers
    }
    announce(true);
    await untilBack(signal);
  }
}

/** All who wait share one watch. */
function untilBack(signal) {
  watching ??= watch().finally(() => (watching = null));
  if (!signal) return watching;
  const left = new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );
  return signal.aborted ? Promise.reject(signal.reason) : Promise.race([watching, left]);
}

async function watch() {
  for (let wait = 500; ; wait = Math.min(5000, wait * 1.6)) {
    await pause(wait);
    try {
      if ((await fetch("health", { cache: "no-store" })).ok) return announce(false);
    } catch {
      // still away
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
    const said = (await response.json()).error; // LibreTranslate's form has a text there, ours an object
    message = said?.message ?? (typeof said === "string" ? said : message);
    field = said?.field ?? null;
  } catch {
    // not JSON: a proxy between us, or the server's own last words
  }
  if ([401, 403].includes(response.status)) connection.dispatchEvent(new CustomEvent("key", { detail: message }));
  const error = new ApiError(response.status, message, field);
  const after = Number(response.headers.get("Retry-After"));
  error.retryAfter = Number.isFinite(after) && after > 0 ? after : null;
  return error;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
