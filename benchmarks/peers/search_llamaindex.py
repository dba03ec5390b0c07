"""LlamaIndex's PGVectorStore, filtered by owner, with HNSW as its documentation shows it.

In: see search_common; the URL of an empty database. Out: answers under "LlamaIndex".
"""

import json
from collections.abc import Iterator, Sequence

import psycopg
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters, VectorStoreQuery
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.vector_stores.postgres import PGVectorStore
from search_common import Batch, K, Vector, ask, copy_rows, fill_once, folder_and_url, only_fills
from sqlalchemy import make_url

HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "vector_cosine_ops"}


def open_store(address: str, *, indexed: bool) -> PGVectorStore:
    """The store; with `indexed` it makes its index at its first use."""
    url = make_url(address)
    return PGVectorStore.from_params(
        host=url.host,
        port=str(url.port),
        database=url.database,
        user=url.username,
        password=url.password,
        table_name="passages",
        embed_dim=1024,
        hnsw_kwargs=dict(HNSW) if indexed else None,
    )


def fill(url: str, batches: Iterator[Batch]) -> None:
    """The first batch by the store itself, the rest as it wrote that, then the index."""
    ids, owners, vectors = next(batches)
    nodes = [_node(one, owner) for one, owner in zip(ids, owners, strict=True)]
    for node, vector in zip(nodes, vectors.tolist(), strict=True):
        node.embedding = vector
    open_store(url, indexed=False).add(nodes)
    copy_rows(url, "data_passages (node_id, text, metadata_, embedding)", batches, _fields)
    search(open_store(url, indexed=True), owners[0], vectors[0].tolist())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze data_passages")


def _node(one: str, owner: str) -> TextNode:
    return TextNode(id_=one, text=one, metadata={"owner": owner})


def _fields(one: str, owner: str) -> Sequence[bytes]:
    metadata = node_to_metadata_dict(_node(one, owner), remove_text=True, flat_metadata=False)
    return [one.encode(), one.encode(), json.dumps(metadata).encode()]


def search(store: PGVectorStore, owner: str, question: Vector) -> list[str]:
    """Ids of the best."""
    own = MetadataFilters(filters=[MetadataFilter(key="owner", value=owner, operator=FilterOperator.EQ)])
    found = store.query(VectorStoreQuery(query_embedding=question, similarity_top_k=K, filters=own))
    return list(found.ids or ())


def main() -> None:
    """Fill and ask."""
    folder, url = folder_and_url()
    fill_once(folder, "llamaindex", lambda batches: fill(url, batches))
    if not only_fills():
        store = open_store(url, indexed=True)
        ask(folder, "LlamaIndex", lambda owner, question: search(store, owner, question))


if __name__ == "__main__":
    main()
