// One operation of the API page: its parameters as a form, the curl command for what is in the form, and the answer.

import { requestOf, curlOf, send, answerType } from "./api_request.js";
import { isBlank, parameterField } from "./api_parameter.js";
import { button, h, show } from "./dom.js";

const MOST_SHOWN = 20_000; // characters of an answer

/**
 * @param {object} operation of the OpenAPI document, with `method`, `path` and `id`
 * @param {() => string} key the API key, "" for none
 */
export function operationBox(operation, key) {
  const body = h("div", { class: "operation-body" });
  const box = h(
    "details",
    { class: "operation", id: operation.id },
    h(
      "summary",
      {},
      h("b", { class: `method ${operation.method.toLowerCase()}` }, operation.method),
      " ",
      h("code", {}, operation.path),
      " ",
      h("span", { class: "quiet" }, operation.summary, operation.security ? " · needs the API key" : ""),
    ),
    body,
  );
  box.addEventListener("toggle", () => {
    if (!box.open) return;
    if (!body.childElementCount) show(body, operationForm(operation, key));
    history.replaceState(null, "", `#${operation.id}`);
  });
  return box;
}

function operationForm(operation, key) {
  const fields = fieldsOf(operation);
  const curl = h("code", {});
  const answer = h("div", { class: "stack answer" });
  const submit = h("button", { type: "submit", class: "main" }, "Send");
  const values = () => {
    const given = fields.map((one) => [one.name, one.value()]);
    return Object.fromEntries(given.filter(([, value]) => !isBlank(value)));
  };
  const update = () => show(curl, curlOf(requestOf(operation, values()), document.baseURI));
  let running = null;
  const onsubmit = async (event) => {
    event.preventDefault();
    if (running) return running.abort();
    running = new AbortController();
    show(submit, "Stop");
    await showAnswer(answer, requestOf(operation, values()), key(), running.signal);
    show(submit, "Send");
    running = null;
  };
  const [first, further] = [true, false].map((wanted) => fields.filter((one) => one.first === wanted));
  const name = `${operation.method} ${operation.path}`;
  const form = h(
    "form",
    { class: "stack", oninput: update, onchange: update, onsubmit, "aria-label": name },
    first.map((one) => one.element),
    h("div", { class: "row" }, submit, h("span", { class: "small quiet" }, sentAs(operation))),
    further.length ? more(further, first.length) : null,
  );
  update();
  return [
    form,
    h(
      "div",
      { class: "stack" },
      h("div", { class: "row spread" }, h("h3", {}, "The same with curl"), copyButton(curl)),
      h("pre", { class: "scroll", tabindex: 0, "aria-label": "curl command" }, curl),
      answer,
      schemaFold(operation),
    ),
  ];
}

/** The parameters of path, query and body: required ones and those of the example first. */
function fieldsOf(operation) {
  const content = Object.values(operation.requestBody?.content ?? {})[0];
  const { properties = {}, required = [] } = content?.schema ?? {};
  const parameters = [
    ...(operation.parameters ?? []),
    ...Object.entries(properties).map(([name, schema]) => ({ name, schema, required: required.includes(name) })),
  ];
  const example = content?.example ?? {};
  const few = parameters.length <= 4;
  return parameters.map((one) => ({
    ...parameterField(one, example[one.name]),
    first: few || Boolean(one.required) || one.name in example,
  }));
}

function more(fields, before) {
  const title = `${fields.length} ${before ? "more " : ""}optional parameter${fields.length > 1 ? "s" : ""}`;
  const inside = h("div", { class: "stack" }, fields.map((one) => one.element));
  return h("details", { class: "more" }, h("summary", {}, title), inside);
}

function sentAs(operation) {
  const [kind, other] = Object.keys(operation.requestBody?.content ?? {});
  const sent = [kind && `sent as ${kind}`, other && `${other} also works`, `answers ${answerType(operation)}`];
  return sent.filter(Boolean).join("; ");
}

function schemaFold({ parameters, requestBody, responses }) {
  const text = JSON.stringify({ parameters, requestBody, responses }, null, 2);
  const pre = h("pre", { class: "scroll", tabindex: 0, "aria-label": "Schema" }, text);
  return h("details", { class: "more" }, h("summary", {}, "Schema in OpenAPI"), pre);
}

function copyButton(from) {
  const box = button("Copy", async () => {
    await navigator.clipboard.writeText(from.textContent);
    show(box, "Copied");
    setTimeout(() => show(box, "Copy"), 1500);
  });
  return box;
}

/** Send a request and show status, time, size and body; a text is shown while it arrives. */
async function showAnswer(place, request, key, signal) {
  const status = h("p", { role: "status" }, "Waiting for the answer …");
  const text = h("code", {});
  const began = performance.now();
  show(place, h("h3", {}, "Answer"), status);
  try {
    const response = await send(request, key, signal);
    const line = h("p", { class: "small quiet" }, headerLine(response.headers));
    const said = (bytes) => {
      const milliseconds = Math.round(performance.now() - began);
      const look = response.ok ? "chip good" : "chip bad";
      const chip = h("span", { class: look }, `${response.status} ${response.statusText}`);
      show(status, chip, ` in ${milliseconds.toLocaleString("en")} ms, ${bytes.toLocaleString("en")} bytes`);
    };
    if (response.headers.has("content-disposition")) {
      const file = await response.blob();
      place.append(line, downloadLink(file, fileName(response)));
      said(file.size);
    } else {
      place.append(line, h("pre", { class: "scroll", tabindex: 0, "aria-label": "Body of the answer" }, text));
      said(await readText(response, text));
    }
  } catch (error) {
    const why = error.name === "AbortError" ? "Stopped." : "The server did not answer.";
    show(status, h("span", { class: "chip bad" }, why));
  }
}

function headerLine(headers) {
  const names = ["content-type", "retry-after", "x-request-id"].filter((name) => headers.has(name));
  return names.map((name) => `${name}: ${headers.get(name)}`).join(" · ");
}

async function readText(response, place) {
  let [whole, bytes] = ["", 0];
  const decoder = new TextDecoder();
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    whole += decoder.decode(value, { stream: !done });
    bytes += value?.length ?? 0;
    if (done) break;
    show(place, whole.slice(0, MOST_SHOWN));
  }
  const json = /json/.test(response.headers.get("content-type") ?? "");
  const written = json && whole ? JSON.stringify(JSON.parse(whole), null, 2) : whole;
  show(place, written.slice(0, MOST_SHOWN), written.length > MOST_SHOWN ? "\n… (the rest is not shown)" : "");
  return bytes;
}

function downloadLink(file, name) {
  return h("p", {}, h("a", { href: URL.createObjectURL(file), download: name }, `Save ${name}`));
}

/** The name in Content-Disposition, of which the second form is for letters outside of ASCII. */
function fileName(response) {
  const header = response.headers.get("content-disposition") ?? "";
  const encoded = /filename\*=utf-8''([^;]+)/i.exec(header)?.[1];
  return encoded ? decodeURIComponent(encoded) : (/filename="?([^";]+)/.exec(header)?.[1] ?? "answer");
}
