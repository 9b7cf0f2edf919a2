"""Addresses of pages in all their states, by name."""

QUERY = "q=earthquake+relief+China"
PAGES = {
    "home": "/",
    "results": f"/search?{QUERY}",
    "grouped": f"/search?{QUERY}&group=document",
    "narrowed": f"/search?{QUERY}&from=2000&source=Northern+Wire&entity=location:China",
    "understood": "/search?q=%22relief+funds%22+OR+China+-trump+the+source:%22Northern+Wire%22+-+relief",
    "misspelt": "/search?q=earthqake+China",
    "literal": f"/search?{QUERY}&syntax=none&require=all",
    "nothing": "/search?q=zyxgarble+the",
    "error": f"/search?{QUERY}&model=bm25&context=both",
    "document": f"/document?id=earthquake-relief&{QUERY}",
    "explain": f"/explain?id=earthquake-relief.s0&{QUERY}",
    "second stage": f"/explain?id=earthquake-relief.s0&{QUERY}&rerank=mrf_sdm:2&feature=subj:step:1",
    "compare": f"/compare?{QUERY}&vs.model=bm25",
    "timeline": f"/timeline?{QUERY}",
    "timelines": "/timeline?q=earthquake&also=relief&also=China&scale=rate",
    "similar": f"/similar?id=earthquake-relief.s0&{QUERY}",
    "newest": f"/search?{QUERY}&sort=date",
    "novel": "/search?q=relief&novel=yes&overlap=.7",
    "batch": "/batch",
    "missing": "/nowhere",
}
FAILING = frozenset({"error", "missing"})
"""Error pages: a browser logs them in its console."""
