"""Chroma, filtered by owner, on disk, with its defaults and cosine distance; its answers hold texts, as the others' do.

In: see search_common; the URL is not used. Out: answers under "Chroma".
"""

from collections.abc import Iterator

import chromadb
from search_common import Batch, K, Vector, ask, fill_once, folder_and_url, only_fills


def fill(passages: chromadb.Collection, batches: Iterator[Batch]) -> None:
    """All in its own batches."""
    for ids, owners, vectors in batches:
        passages.add(ids=ids, documents=ids, embeddings=vectors, metadatas=[{"owner": one} for one in owners])


def main() -> None:
    """Fill and ask."""
    folder, _ = folder_and_url()
    client = chromadb.PersistentClient(
        path=str(folder / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False)
    )
    passages = client.get_or_create_collection("passages", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    fill_once(folder, "chroma", lambda batches: fill(passages, batches))

    def search(owner: str, question: Vector) -> list[str]:
        found = passages.query(query_embeddings=[question], n_results=K, where={"owner": owner})
        return list(found["ids"][0])

    if not only_fills():
        ask(folder, "Chroma", search)


if __name__ == "__main__":
    main()
