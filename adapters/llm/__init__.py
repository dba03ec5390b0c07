"""A chat model behind any OpenAI-compatible server: OpenRouter, OpenAI, Ollama, vLLM, llama.cpp.

In: calls of `rag.ports.ChatModel`. Out: text, pieces of it, or a pydantic record; `rag.errors.ModelError`. Open it with
`adapters.llm.opening.open_chat_model`, which imports the SDK only then: that takes a second or two.
"""
