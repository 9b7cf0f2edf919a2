"""A search service with FastAPI: `ESR_INDEX=my-index fastapi dev examples/fastapi_search.py`."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request

import esr


@asynccontextmanager
async def opened(app: FastAPI) -> AsyncGenerator[None, None]:
    async with esr.open_async(os.environ["ESR_INDEX"]) as index:
        app.state.index = index
        yield


app = FastAPI(title="News", lifespan=opened)


@app.get("/search")
async def search(
    request: Request,
    q: str,
    k: Annotated[int, Query(ge=1, le=100)] = 10,
    source: Annotated[list[str] | None, Query()] = None,
    after: str | None = None,
) -> dict[str, Any]:
    index: esr.AsyncIndex = request.app.state.index
    try:
        hits = await index.search(q, k, source=source, after=after)
    except esr.UsageError as error:
        raise HTTPException(422, str(error)) from error
    sources = await index.run(hits.facets, "source")
    found = [{"text": hit.text, "title": hit.title, "date": hit.date, "marks": hit.marks} for hit in hits]
    return {"total": hits.total, "hits": found, **sources}
