"""LangChain's PGVector, filtered by owner: by default (no index), then with the HNSW index of pgvector's guide.

In: see search_common; the URL of an empty database. Out: answers under "LangChain" and "LangChain, HNSW". The index is
made before both, and the first is not allowed to use it.
"""

import json
from collections.abc import Iterator

import psycopg
from langchain_core.embeddings import Embeddings
from langchain_postgres import PGVector
from search_common import Batch, K, Vector, ask, copy_rows, fill_once, folder_and_url, only_fills
from sqlalchemy import create_engine

TABLE = "langchain_pg_embedding"
NO_INDEX = "-c enable_indexscan=off"


class NoEmbeddings(Embeddings):
    """All vectors are given."""

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """Is not asked."""
        raise NotImplementedError

    def embed_query(self, text: str) -> Vector:
        """Is not asked."""
        raise NotImplementedError


def open_store(url: str, options: str = "") -> PGVector:
    """The store as its documentation opens it."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), connect_args={"options": options})
    return PGVector(embeddings=NoEmbeddings(), connection=engine, embedding_length=1024, use_jsonb=True)


def fill(url: str, batches: Iterator[Batch]) -> None:
    """The first batch by the store itself, the rest as it wrote that, then the index."""
    ids, owners, vectors = next(batches)
    metadata = [{"owner": one} for one in owners]
    open_store(url).add_embeddings(texts=ids, embeddings=vectors.tolist(), metadatas=metadata, ids=ids)
    with psycopg.connect(url, autocommit=True) as connection:
        ((collection,),) = connection.execute("select uuid from langchain_pg_collection").fetchall()
        copy_rows(
            url,
            f"{TABLE} (id, collection_id, document, cmetadata, embedding)",
            batches,
            lambda one, owner: [
                one.encode(),
                collection.bytes,
                one.encode(),
                b"\1" + json.dumps({"owner": owner}).encode(),
            ],
        )
        connection.execute(f"create index on {TABLE} using hnsw (embedding vector_cosine_ops)".encode())
        connection.execute(f"vacuum analyze {TABLE}".encode())


def main() -> None:
    """Fill, ask both ways."""
    folder, url = folder_and_url()
    fill_once(folder, "langchain", lambda batches: fill(url, batches))
    for name, options in {} if only_fills() else {"LangChain": NO_INDEX, "LangChain, HNSW": ""}.items():
        store = open_store(url, options)

        def search(owner: str, question: Vector, store: PGVector = store) -> list[str]:
            found = store.similarity_search_with_score_by_vector(question, k=K, filter={"owner": owner})
            return [document.page_content for document, _ in found]

        ask(folder, name, search)


if __name__ == "__main__":
    main()
