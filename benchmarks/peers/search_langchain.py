"""LangChain's PGVector, filtered by owner: as it comes (no index), then with the HNSW index of pgvector's guide.

In: see search_common; the URL of an empty database. Out: answers under "LangChain" and "LangChain, HNSW".
"""

from langchain_core.embeddings import Embeddings
from langchain_postgres import PGVector
from search_common import K, Vector, ask, folder_and_url, rows
from sqlalchemy import create_engine, text


class NoEmbeddings(Embeddings):
    """All vectors are given."""

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """Is not asked."""
        raise NotImplementedError

    def embed_query(self, text: str) -> Vector:
        """Is not asked."""
        raise NotImplementedError


def main() -> None:
    """Fill, ask, index, ask again."""
    folder, url = folder_and_url()
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    store = PGVector(embeddings=NoEmbeddings(), connection=engine, embedding_length=1024, use_jsonb=True)
    for ids, owners, vectors in rows(folder):
        store.add_embeddings(texts=ids, embeddings=vectors, metadatas=[{"owner": one} for one in owners], ids=ids)

    def search(owner: str, question: Vector) -> list[str]:
        found = store.similarity_search_with_score_by_vector(question, k=K, filter={"owner": owner})
        return [document.page_content for document, _ in found]

    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("vacuum analyze langchain_pg_embedding"))
        ask(folder, "LangChain", search)
        connection.execute(text("set maintenance_work_mem = '1GB'"))
        connection.execute(text("create index on langchain_pg_embedding using hnsw (embedding vector_cosine_ops)"))
        ask(folder, "LangChain, HNSW", search)


if __name__ == "__main__":
    main()
