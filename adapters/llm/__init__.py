"""A chat model behind any OpenAI-compatible server: OpenRouter, OpenAI, Ollama, vLLM, llama.cpp.

In: calls of `rag.ports.ChatModel`. Out: text, pieces of it, or a pydantic record; `rag.errors.ModelError`. The SDK, which
takes a second or two, is imported when a model is opened.
"""

from adapters.llm.opening import open_chat_model

__all__ = ["open_chat_model"]
