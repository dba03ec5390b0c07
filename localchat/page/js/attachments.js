// Files in bubbles: a document with its size, a photo, sound, film; and a file that is still on its way up.
import { $, el, icon, ring } from "./dom.js";
import { size } from "./format.js";
import { t } from "./texts.js";

const PHOTO_WIDTH = 420;
const PHOTO_HEIGHT = 460;
const address = (file) => `/files/${file.file_id}`;
const extension = (name) => (name.includes(".") ? name.split(".").pop().slice(0, 4) : "");

/** The node for what a message carries, null for a text. */
export function attachmentNode(message) {
  if (message.photo) return photoNode(message.photo.at(-1), Boolean(message.caption));
  if (message.document) return fileNode(message.document);
  const sound = message.voice ?? message.audio;
  if (sound) return soundNode(sound);
  if (message.video) return el("video", { class: "film", src: address(message.video), controls: true, preload: "metadata" });
  return null;
}

/** What a message carries, in a word or by name: for quotes and the list of chats. */
export function attachmentName(message) {
  if (message.photo) return t.photo;
  if (message.voice) return t.voice;
  const named = message.document ?? message.audio ?? message.video;
  return named ? named.file_name || t.document : "";
}

function fileNode(file) {
  const disc = el("span", { class: "disc", "aria-hidden": "true" }, el("span", { class: "ext" }, extension(file.file_name)), icon("load"));
  const about = el("span", { class: "about" }, el("b", {}, file.file_name), el("span", {}, size(file.file_size)));
  return el("a", { class: "file", href: address(file), download: file.file_name }, disc, about);
}

/** Its size is known before it loads, so nothing jumps when it does. */
function photoNode(photo, captioned) {
  const scale = Math.min(PHOTO_WIDTH / photo.width, PHOTO_HEIGHT / photo.height, 1);
  const image = el("img", { src: address(photo), alt: t.photo, loading: "lazy", decoding: "async" });
  const node = el("button", { class: `photo${captioned ? " captioned" : ""}`, type: "button", "aria-label": t.photo, onclick: () => showLarge(image.src) }, image);
  node.style.width = `min(${Math.max(140, Math.round(photo.width * scale))}px, 78vw)`;
  node.style.aspectRatio = `${photo.width} / ${photo.height}`;
  return node;
}

function soundNode(sound) {
  const player = el("audio", { class: "sound", src: address(sound), controls: true, preload: "metadata" });
  if (!sound.file_name) return player;
  return el("div", {}, el("b", {}, sound.file_name), player);
}

function showLarge(source) {
  const light = $("light");
  light.replaceChildren(el("img", { src: source, alt: t.photo }));
  light.onclick = () => light.close();
  light.showModal();
}

/** A bubble for a file that is being uploaded: {node, progress(0…1), fail(sentence)}. */
export function goingNode(file) {
  const circle = ring();
  const disc = el("span", { class: "disc" }, el("span", { class: "ext" }, extension(file.name)), icon("cross"), circle.svg);
  const state = el("span", {}, size(file.size));
  const box = el("div", { class: "file going" }, disc, el("span", { class: "about" }, el("b", {}, file.name), state));
  const node = el("div", { class: "message mine first last fresh" }, el("div", { class: "bubble" }, box));
  const progress = (part) => {
    circle.fill(part);
    state.textContent = `${size(file.size * part)} / ${size(file.size)}`;
  };
  const fail = (sentence) => { box.classList.add("failed"); circle.svg.remove(); state.textContent = sentence; };
  return { node, progress, fail };
}
