"""A chat model behind any OpenAI-compatible server: OpenRouter, OpenAI, Ollama, vLLM, llama.cpp.

In: calls of `rag.ports.ChatModel`. Out: text, pieces of it, or a pydantic record; `rag.ports.ModelError`. Open it with
`adapters.llm.fallback.open_chat_model`, and import that only then: the SDK takes a second or two.
"""
