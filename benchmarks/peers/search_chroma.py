"""Chroma, filtered by owner, on disk, with its defaults and cosine distance.

In: see search_common; the URL is not used. Out: answers under "Chroma".
"""

import chromadb
from search_common import K, Vector, ask, folder_and_url, rows


def main() -> None:
    """Fill and ask."""
    folder, _ = folder_and_url()
    client = chromadb.PersistentClient(
        path=str(folder / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False)
    )
    passages = client.create_collection("passages", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    for ids, owners, vectors in rows(folder):
        passages.add(ids=ids, embeddings=vectors, metadatas=[{"owner": one} for one in owners])

    def search(owner: str, question: Vector) -> list[str]:
        found = passages.query(query_embeddings=[question], n_results=K, where={"owner": owner}, include=["distances"])
        return list(found["ids"][0])

    ask(folder, "Chroma", search)


if __name__ == "__main__":
    main()
