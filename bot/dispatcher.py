"""The bot's pipeline in one place: the middlewares that every update passes, outermost first, and the routers in order.

In: `Services`. Out: an aiogram `Dispatcher`, ready to be fed. `bot.inbox` feeds it and waits for running handlers.
"""

from aiogram import Dispatcher

from bot.handlers import (
    asking,
    base,
    bases,
    chat,
    clean,
    document,
    fallback,
    going_on,
    kept,
    library,
    menu,
    models,
    sharing,
    sources,
    stats,
    tokens,
)
from bot.handlers.answering import Dialogues
from bot.middlewares import FILES, Access, OnlyAddressed, ReadState, Throttle
from bot.services import Services


def build_dispatcher(services: Services) -> Dispatcher:
    """A new dispatcher with its own routers. It subscribes only to messages, button presses (the stop button of a draft
    included) and who leaves a group; edited messages and channel posts never arrive."""
    dispatcher = Dispatcher(disable_fsm=True, services=services, dialogues=Dialogues())
    dispatcher.errors.register(fallback.apologise)

    for_both = (Access(services), Throttle(services), ReadState(services))
    for middleware in (OnlyAddressed(), *for_both):
        dispatcher.message.outer_middleware(middleware)
    for middleware in for_both:
        dispatcher.callback_query.outer_middleware(middleware)

    questions = chat.build_router()
    questions.message.middleware(Throttle(services, bursts=FILES))  # the mode is known by then
    dispatcher.include_routers(
        sharing.build_router(),
        menu.build_router(services.texts),
        bases.build_router(),
        tokens.build_router(),
        asking.build_router(),
        library.build_router(services.texts),
        document.build_router(),
        clean.build_router(),
        stats.build_router(),
        sources.build_router(),
        going_on.build_router(),
        kept.build_router(),
        models.build_router(),
        fallback.build_command_router(),
        base.build_router(),
        questions,
        fallback.build_button_router(),
    )
    return dispatcher
