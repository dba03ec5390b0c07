// The way to the server: JSON calls, uploads with progress, and the stream of events.

let base = "";

export const actAs = (userId) => { base = `/people/${userId}`; };

async function read(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.description || response.statusText);
  return body;
}

export const get = async (path) => read(await fetch(base + path));

export const post = async (path, body) =>
  read(await fetch(base + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));

/** Upload one file; `progress` gets 0…1. fetch() still cannot tell how far an upload is, so this is XMLHttpRequest. */
export function upload(file, progress) {
  const form = new FormData();
  form.append("file", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${base}/uploads`);
    request.responseType = "json";
    request.upload.onprogress = (event) => progress(event.loaded / event.total);
    request.onload = () => (request.status === 200 ? resolve(request.response) : reject(new Error(String(request.status))));
    request.onerror = () => reject(new Error("network"));
    request.send(form);
  });
}

/** Events until `stop()`; the browser reconnects by itself and `hello` says each time that it is heard again. */
export function listen(onEvent, onLost) {
  const source = new EventSource(`${base}/events`);
  source.onmessage = (message) => onEvent(JSON.parse(message.data));
  source.onerror = onLost;
  return () => source.close();
}
