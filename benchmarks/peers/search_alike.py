"""LangChain's BM25Retriever as its documentation uses it, over the passages of `benchmarks.alike`.

In: on standard input JSON with `passages` and `questions`. Out: for each question the places of the best ten passages,
as JSON.
"""

import json
import sys

from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document

SHOWN = 10

given = json.load(sys.stdin)
documents = [Document(page_content=text, metadata={"place": place}) for place, text in enumerate(given["passages"])]
retriever = BM25Retriever.from_documents(documents, k=SHOWN)
json.dump([[each.metadata["place"] for each in retriever.invoke(asked)] for asked in given["questions"]], sys.stdout)
