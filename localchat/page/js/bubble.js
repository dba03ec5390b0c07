// One message -> its node. Nothing here knows the list it will stand in, apart from the classes that group it.
import { attachmentName, attachmentNode } from "./attachments.js";
import { buttonsNode } from "./buttons.js";
import { avatar, el, icon, tone } from "./dom.js";
import { clock } from "./format.js";
import { richText } from "./richtext.js";
import { t } from "./texts.js";

/** `scene`: {me, group, actions}. */
export function messageNode(message, scene) {
  const mine = message.from.id === scene.me;
  const buttons = buttonsNode(message, scene.actions);
  const node = el("div", { class: `message ${mine ? "mine" : "other"}${buttons ? " keyed" : ""}`, "data-id": message.message_id });
  node.append(bubbleNode(message, scene, mine));
  if (buttons) node.append(buttons);
  if (scene.group && !mine) node.append(avatar(message.from, "small"));
  return node;
}

function bubbleNode(message, scene, mine) {
  const bubble = el("div", { class: "bubble" });
  const text = message.text ?? message.caption ?? "";
  const attachment = attachmentNode(message);
  if (scene.group && !mine) bubble.append(nameNode(message.from));
  if (message.forward_origin) bubble.append(el("span", { class: "forwarded" }, t.from(originName(message.forward_origin))));
  if (message.reply_to_message) bubble.append(replyNode(message.reply_to_message, scene));
  if (attachment) bubble.append(attachment);
  if (message.photo && !text) bubble.classList.add("bare");
  if (message.document && !text) bubble.classList.add("filed"); // the time stands beside the size
  bubble.append(bodyNode(message, text, scene, mine));
  return bubble;
}

function bodyNode(message, text, scene, mine) {
  const body = el("div", { class: "body" });
  const shown = el("div", { class: "text", dir: "auto" });
  if (text) shown.append(richText(text, message.entities ?? message.caption_entities, scene.actions));
  // The time floats in the last line when there is room for it, as in Telegram
  shown.append(metaNode(message, mine));
  body.append(shown);
  return body;
}

function metaNode(message, mine) {
  const meta = el("span", { class: "meta" });
  if (message.edit_date) meta.append(t.edited);
  meta.append(el("time", { datetime: new Date(message.date * 1000).toISOString() }, clock(message.date)));
  if (mine) meta.append(icon("tick"));
  return meta;
}

const nameNode = (account) => el("span", { class: `name${account.is_bot ? "" : ` tone-${tone(account.id)}`}` }, account.first_name);

export const originName = (origin) => origin.sender_user?.first_name ?? origin.sender_user_name ?? origin.chat.title;

/** The short form of a message above its answer; a click leads to it. */
export function replyNode(message, scene) {
  const who = message.from.id === scene.me ? t.you : message.from.first_name;
  const what = message.text ?? message.caption ?? attachmentName(message);
  return el("button", { class: "reply", type: "button", onclick: () => scene.actions.jump(message.message_id) },
    el("b", {}, who), el("span", {}, (what || attachmentName(message)).slice(0, 200)));
}

/** The bot has seen it: two ticks. */
export function markRead(node) {
  node.querySelector(".meta .i use")?.setAttribute("href", "#i-ticks");
}
