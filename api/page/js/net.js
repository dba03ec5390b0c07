// The way to the API: JSON calls, the stream of an answer, uploads with progress. The token lives in sessionStorage: a
// cookie would be sent along with every request that another site makes, and would outlive the tab.

const KEY = "baza-token";
let token = sessionStorage.getItem(KEY) || "";

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export function setToken(value) {
  token = value;
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}
export const hasToken = () => token !== "";

// A token may hold anything that was typed; a header may not.
const authorization = () => ({ Authorization: `Bearer ${token.replace(/[^\x21-\x7e]/g, "")}` });

async function ask(method, path, body, signal) {
  const headers = authorization();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method, headers, signal, body: body === undefined ? null : JSON.stringify(body) });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Problem(response.status, problem.detail || response.statusText);
}

export const get = async (path) => (await ask("GET", path)).json();
export const post = async (path, body) => (await ask("POST", path, body)).text();
export const file = async (path) => (await ask("GET", path)).blob();

/** Calls on[event](data) for each server-sent event of the answer. */
export async function stream(path, body, signal, on) {
  const response = await ask("POST", path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) || [];
      if (name in on) on[name](JSON.parse(data));
    }
  }
}

/** Uploads one file; `progress` gets 0…1. fetch() cannot tell how far an upload is, so this is XMLHttpRequest. */
export function upload(path, sent, progress) {
  const form = new FormData();
  form.append("file", sent, sent.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("Authorization", authorization().Authorization);
    request.setRequestHeader("Idempotency-Key", crypto.getRandomValues(new Uint32Array(4)).join("-"));
    request.responseType = "json";
    request.upload.onprogress = (event) => progress(event.loaded / event.total);
    request.onload = () => request.status === 202
      ? resolve(request.response)
      : reject(new Problem(request.status, request.response?.detail || request.statusText));
    request.onerror = () => reject(new TypeError("network"));
    request.send(form);
  });
}
