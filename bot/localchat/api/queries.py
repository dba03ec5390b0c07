"""Answers to button presses. In: answerCallbackQuery. Out: a toast or an alert on the page that pressed."""

from bot.localchat.api.call import Call, Method
from bot.localchat.checks import bad
from bot.localchat.text.units import utf16_length

ANSWER_UNITS = 200
# Telegram documents no number; in practice bots see the refusal after some ten seconds to minutes.
QUERY_LIVES_S = 60
_TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


async def answer_callback_query(call: Call) -> bool:
    """Answer a button press, once and within `QUERY_LIVES_S`."""
    text = call.params.text("text") or ""
    if utf16_length(text) > ANSWER_UNITS:
        raise bad("MESSAGE_TOO_LONG")
    query = call.exchange.messages.take_query(call.params.text("callback_query_id") or "")
    if query is None or call.exchange.clock() - query.pressed_at > QUERY_LIVES_S:
        raise bad(_TOO_OLD)
    call.exchange.hub.tell_pages(
        {
            "type": "answer",
            "chat_id": query.chat_id,
            "message_id": query.message_id,
            "user_id": query.user_id,
            "query_id": query.query_id,
            "text": text,
            "alert": call.params.flag("show_alert"),
            "url": call.params.text("url"),
        }
    )
    return True


METHODS: dict[str, Method] = {"answerCallbackQuery": answer_callback_query}
