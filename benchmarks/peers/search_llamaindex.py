"""LlamaIndex's PGVectorStore, filtered by owner, with HNSW as its documentation shows it.

In: see search_common; the URL of an empty database. Out: answers under "LlamaIndex".
"""

from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters, VectorStoreQuery
from llama_index.vector_stores.postgres import PGVectorStore
from search_common import K, Vector, ask, folder_and_url, rows
from sqlalchemy import make_url

HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "vector_cosine_ops"}


def main() -> None:
    """Fill and ask."""
    folder, address = folder_and_url()
    url = make_url(address)
    store = PGVectorStore.from_params(
        host=url.host,
        port=str(url.port),
        database=url.database,
        user=url.username,
        password=url.password,
        table_name="passages",
        embed_dim=1024,
        hnsw_kwargs=HNSW,
    )
    for ids, owners, vectors in rows(folder):
        nodes = [
            TextNode(id_=one, text=one, metadata={"owner": owner}, embedding=vector)
            for one, owner, vector in zip(ids, owners, vectors, strict=True)
        ]
        store.add(nodes)

    def search(owner: str, question: Vector) -> list[str]:
        own = MetadataFilters(filters=[MetadataFilter(key="owner", value=owner, operator=FilterOperator.EQ)])
        found = store.query(VectorStoreQuery(query_embedding=question, similarity_top_k=K, filters=own))
        return list(found.ids or ())

    ask(folder, "LlamaIndex", search)


if __name__ == "__main__":
    main()
