"""Files into pgvector by LangChain: loaders, RecursiveCharacterTextSplitter, PGVector.

In: a PostgreSQL address (postgresql://…) and files. Out: {"documents", "failed", "chunks", "seconds", "stages"}. The
embedding is a stand-in that answers at once: a vector of 1,024 numbers that depends on the text's length.
"""

import argparse
import json
import time
from pathlib import Path

from langchain_community.document_loaders import BSHTMLLoader, Docx2txtLoader, PyPDFLoader, TextLoader
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_postgres import PGVector
from langchain_text_splitters import RecursiveCharacterTextSplitter

LOADERS = {".pdf": PyPDFLoader, ".docx": Docx2txtLoader, ".html": BSHTMLLoader, ".md": TextLoader, ".txt": TextLoader}
DIMENSIONS = 1024


class InstantEmbeddings(Embeddings):
    """Vectors that cost nothing."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0 / (1 + len(text) % 97)] * DIMENSIONS


def main(url: str, warm: Path, paths: list[Path]) -> None:
    """Load, split and store, one file after the other."""
    connection = url.replace("postgresql://", "postgresql+psycopg://")
    store = PGVector(InstantEmbeddings(), connection=connection, collection_name="peer", use_jsonb=True)
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    store.add_documents(splitter.split_documents(LOADERS[warm.suffix](str(warm)).load()))
    failed, chunks, stages = 0, 0, {"load": 0.0, "split": 0.0, "store": 0.0}
    began = time.perf_counter()
    for path in paths:
        try:
            marks = [time.perf_counter()]
            documents: list[Document] = LOADERS[path.suffix.lower()](str(path)).load()
            marks.append(time.perf_counter())
            pieces = splitter.split_documents(documents)
            marks.append(time.perf_counter())
            for piece in pieces:  # PostgreSQL's text holds no zero bytes
                piece.page_content = piece.page_content.replace("\0", "")
            store.add_documents(pieces)
            marks.append(time.perf_counter())
        except Exception:
            failed += 1
            continue
        chunks += len(pieces)
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
