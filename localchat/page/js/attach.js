// Files on their way to the bot: chosen, pasted or dropped, looked over in a sheet, then uploaded with progress.
import { $, el, icon } from "./dom.js";
import { goingNode } from "./attachments.js";
import { upload } from "./net.js";
import { size } from "./format.js";
import { toast } from "./toast.js";
import { t } from "./texts.js";

const ALBUM_FILES = 10;
const FILE_BYTES = 50 * 1024 * 1024; // what the server takes
const PHOTO = /^image\/(png|jpeg|webp)$/;

export class Attach {
  /** `room`: {going(node), send({text, files, as_file})} about the open chat. */
  constructor(room) {
    this.room = room;
    this.offered = []; // what the open sheet shows
    $("sheet").addEventListener("close", () => { this.offered = []; });
    $("attach").title = t.attach;
    $("attach").setAttribute("aria-label", t.attach);
    $("attach").addEventListener("click", () => $("file").click());
    $("file").setAttribute("aria-label", t.attach);
    $("file").addEventListener("change", (event) => { this.offer([...event.target.files]); event.target.value = ""; });
    document.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length) { event.preventDefault(); this.offer(files); }
    });
    this.#acceptDrops();
  }

  /** The sheet with the files, a caption and how to send pictures. Files dropped on the open sheet join the others. */
  offer(added) {
    if (!added.length) return;
    const files = [...this.offered, ...added];
    if (files.length > ALBUM_FILES) { toast(t.tooMany); return; }
    if (files.some((file) => file.size > FILE_BYTES)) { toast(t.tooLarge); return; }
    const sheet = $("sheet");
    const said = this.offered.length ? sheet.querySelector("textarea").value : "";
    const caption = el("textarea", { rows: "1", placeholder: t.caption, "aria-label": t.caption, maxlength: "1024" });
    const asFile = el("input", { type: "checkbox" });
    const pictures = files.some((file) => PHOTO.test(file.type));
    const go = () => { sheet.close(); this.#send(files, caption.value, asFile.checked); };
    const form = el("form", { onsubmit: (event) => { event.preventDefault(); go(); } },
      el("h3", {}, t.sendFiles(files.length)),
      el("ul", { class: "picked" }, ...files.map(pickedNode)),
      pictures ? el("label", {}, asFile, t.asFile) : null,
      caption,
      el("div", { class: "ends" },
        el("button", { class: "flat", type: "button", onclick: () => sheet.close() }, t.cancel),
        el("button", { class: "solid", type: "submit" }, t.send)));
    caption.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); go(); }
    });
    sheet.setAttribute("aria-label", t.sendFiles(files.length));
    sheet.replaceChildren(form);
    caption.value = said;
    this.offered = files;
    if (!sheet.open) sheet.showModal();
    caption.focus();
  }

  async #send(files, text, asFile) {
    const room = this.room.here(); // the chat may be another one when the upload is over
    const going = files.map((file) => ({ file, ...goingNode(file) }));
    for (const one of going) room.going(one.node);
    try {
      const ids = [];
      for (const one of going) ids.push((await upload(one.file, one.progress)).file_id);
      for (const one of going) one.node.remove(); // before the message itself comes, or it would stand there twice
      await room.send({ text, files: ids, as_file: asFile });
    } catch {
      for (const one of going) {
        if (!one.node.isConnected) room.going(one.node);
        one.fail(t.uploadFailed);
      }
    }
  }

  #acceptDrops() {
    const over = $("drop");
    over.querySelector("b").textContent = t.dropTitle;
    over.querySelector("span").textContent = t.dropHint;
    const carries = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    document.addEventListener("dragover", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      over.hidden = false;
    });
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over.hidden = true; });
    document.addEventListener("drop", (event) => {
      over.hidden = true;
      if (!carries(event)) return;
      event.preventDefault();
      this.offer([...event.dataTransfer.files]);
    });
  }
}

function pickedNode(file) {
  const about = el("div", { class: "about" }, el("b", {}, file.name), el("span", {}, size(file.size)));
  if (!PHOTO.test(file.type)) {
    const extension = file.name.includes(".") ? file.name.split(".").pop().slice(0, 4) : "";
    return el("li", {}, el("div", { class: "disc" }, extension || icon("file")), about);
  }
  const image = el("img", { alt: "", src: URL.createObjectURL(file) });
  image.addEventListener("load", () => URL.revokeObjectURL(image.src));
  return el("li", {}, image, about);
}
