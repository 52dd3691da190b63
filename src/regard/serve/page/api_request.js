// A request of the API page: what fetch sends for the values of a form, and the curl command that sends the same.

/**
 * @typedef {{method: string, address: string, mediaType: string, answers: string,
 *   body: null | Object<string, any>, secured: boolean}} ApiRequest
 */

/**
 * Put values into the path, the query and the body of an operation.
 * @param {object} operation of the OpenAPI document, with `method` and `path`
 * @param {Object<string, any>} values without those that are left out
 * @returns {ApiRequest} its address is relative, since the server may be behind a path of a proxy
 */
export function requestOf(operation, values) {
  const rest = { ...values };
  const query = new URLSearchParams();
  let address = operation.path.slice(1);
  for (const { name, in: where } of operation.parameters ?? []) {
    if (!(name in rest)) continue;
    if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(rest[name]));
    else query.append(name, rest[name]);
    delete rest[name];
  }
  const [mediaType] = Object.keys(operation.requestBody?.content ?? {});
  return {
    method: operation.method,
    address: query.size ? `${address}?${query}` : address,
    mediaType: mediaType ?? "",
    answers: answerType(operation),
    body: mediaType ? rest : null,
    secured: Boolean(operation.security),
  };
}

/** The media type of the answer to a request that succeeds. */
export function answerType(operation) {
  const [status] = Object.keys(operation.responses).filter((code) => code.startsWith("2"));
  return Object.keys(operation.responses[status]?.content ?? {})[0] ?? "";
}

/** @param {ApiRequest} request @param {string} key @param {AbortSignal} signal */
export function send({ method, address, mediaType, body }, key, signal) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  if (body && mediaType === "application/json") {
    headers["Content-Type"] = mediaType;
    body = JSON.stringify(body);
  } else if (body) {
    const form = new FormData();
    for (const [name, value] of fields(body)) form.append(name, value);
    body = form;
  }
  return fetch(address, { method, headers, body, signal, credentials: "omit" });
}

/** @param {ApiRequest} request @param {string} base the address of the page */
export function curlOf({ method, address, mediaType, answers, body, secured }, base) {
  const download = !/json|^text\//.test(answers);
  const parts = [`curl${answers === "text/event-stream" ? " -N" : ""}${download ? " -OJ" : ""}`];
  if (method !== "GET" && !(method === "POST" && body)) parts[0] += ` -X ${method}`;
  parts[0] += ` ${quoted(new URL(address, base).href)}`;
  if (secured) parts.push('-H "Authorization: Bearer $API_KEY"');
  if (body && mediaType === "application/json") {
    parts.push(`-H ${quoted(`Content-Type: ${mediaType}`)}`, `-d ${quoted(JSON.stringify(body))}`);
  } else if (body) {
    for (const [name, value] of fields(body)) {
      const file = value instanceof File && `@"${value.name.replace(/["\\]/g, "\\$&")}"`;
      parts.push(file ? `-F ${quoted(`${name}=${file}`)}` : `--form-string ${quoted(`${name}=${value}`)}`);
    }
  }
  return parts.join(" \\\n  ");
}

/** The fields of a form; a list is a field that occurs several times. */
function fields(body) {
  return Object.entries(body).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
}

/** A word of a POSIX shell. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
