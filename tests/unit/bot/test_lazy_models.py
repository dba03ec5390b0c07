"""What is promised of the quick import of aiogram, each in a fresh interpreter: this one has imported it already."""

import subprocess
import sys

IMPORT = """
from bot.serving import built_when_used
with built_when_used():
    import aiogram
from aiogram import methods, types
"""

USE = """
message = {"message_id": 1, "date": 0, "chat": {"id": 1, "type": "private"}, "text": "да"}
update = types.Update.model_validate({"update_id": 1, "message": {**message, "reply_to_message": message}})
assert type(update.message.reply_to_message) is types.Message
answer = methods.Response[types.Message].model_validate({"ok": True, "result": message})
assert answer.result.text == "да"
button = types.InlineKeyboardButton(text="да", callback_data="x")
sent = methods.SendMessage(chat_id=1, text="да", reply_markup=types.InlineKeyboardMarkup(inline_keyboard=[[button]]))
assert sent.model_dump(exclude_none=True)["reply_markup"]["inline_keyboard"][0][0]["text"] == "да"
"""

BUILD_MANY = """
models = [getattr(module, name) for module in (types, methods) for name in module.__all__]
models = [model for model in models if hasattr(model, "model_rebuild")]
assert len(models) > 500
models = models[::10]  # each takes 12 ms
assert all(model.__pydantic_validator__.title and model.__pydantic_complete__ for model in models)
"""


OTHERS = """
from pydantic import BaseModel
from bot.serving import built_when_used
with built_when_used():
    class Node(BaseModel):
        inner: "Leaf | None" = None
    class Leaf(BaseModel):
        size: int
    assert Node.model_rebuild(_types_namespace={"Leaf": Leaf}) and Node.__pydantic_complete__
"""


def run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_models_are_built_by_their_use_and_not_before_and_others_as_ever() -> None:
    again = "before = vars(types.TelegramObject)['model_rebuild']" + IMPORT
    again += "assert vars(types.TelegramObject)['model_rebuild'] is before\n"  # aiogram was imported already
    run(OTHERS + IMPORT + "assert not types.Message.__pydantic_complete__\n" + again + USE + BUILD_MANY)


def test_the_command_line_imports_no_aiogram() -> None:
    """It would take each command four times as long."""
    run("""
import pkgutil, sys
from importlib import import_module
from bot import cli
for module in pkgutil.iter_modules(cli.__path__):
    import_module(f"bot.cli.{module.name}")
assert "aiogram" not in sys.modules
""")
