"""Files into pgvector by LlamaIndex: SimpleDirectoryReader, SentenceSplitter, PGVectorStore.

In: a PostgreSQL address (postgresql://…) and files. Out: {"documents", "failed", "chunks", "seconds", "stages"}. The
embedding is a stand-in that answers at once: a vector of 1,024 numbers that depends on the text's length.
"""

import argparse
import json
import time
from pathlib import Path

from llama_index.core import SimpleDirectoryReader
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.vector_stores.postgres import PGVectorStore

DIMENSIONS = 1024


class InstantEmbedding(BaseEmbedding):
    """Vectors that cost nothing."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [1.0 / (1 + len(text) % 97)] * DIMENSIONS

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def open_store(url: str) -> PGVectorStore:
    """A store of the peer's own table."""
    return PGVectorStore.from_params(
        connection_string=url.replace("postgresql://", "postgresql+psycopg2://"),
        async_connection_string=url.replace("postgresql://", "postgresql+asyncpg://"),
        table_name="peer_llamaindex",
        embed_dim=DIMENSIONS,
    )


def main(url: str, warm: Path, paths: list[Path]) -> None:
    """Read, split, embed and store, one file after the other."""
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(), InstantEmbedding()], vector_store=open_store(url), disable_cache=True
    )
    pipeline.run(documents=SimpleDirectoryReader(input_files=[str(warm)]).load_data())
    failed, chunks, stages = 0, 0, {"load": 0.0, "split and store": 0.0}
    began = time.perf_counter()
    for path in paths:
        try:
            marks = [time.perf_counter()]
            documents = SimpleDirectoryReader(input_files=[str(path)], raise_on_error=True).load_data()
            for document in documents:  # PostgreSQL's text holds no zero bytes
                document.set_content(document.text.replace("\0", ""))
            marks.append(time.perf_counter())
            nodes = pipeline.run(documents=documents)
            marks.append(time.perf_counter())
        except Exception:
            failed += 1
            continue
        chunks += len(nodes)
        for name, start, end in zip(stages, marks, marks[1:], strict=False):
            stages[name] += end - start
    seconds = time.perf_counter() - began
    print(json.dumps({"documents": len(paths) - failed, "failed": failed, "chunks": chunks, "seconds": seconds,
                      "stages": stages}))  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("warm", type=Path, help="read before the clock starts: whatever is imported or opened late")
    parser.add_argument("paths", nargs="+", type=Path)
    arguments = parser.parse_args()
    main(arguments.url, arguments.warm, arguments.paths)
