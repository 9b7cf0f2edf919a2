"""Traces of requests: a span for each request, each of its stages and each call of an engine.

OpenTelemetry's environment variables turn traces on and name their destination. Without them, OpenTelemetry
is not imported. The client of Elasticsearch makes spans of its requests itself.

Queries are private. Spans contain them only if `ESR_QUERY_LOG` names a file of queries.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g, request

from esr.errors import UsageError
from esr.extras import require
from esr.stdlib import import_lazily
from webui.running import gate
from webui.running.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from opentelemetry import propagate, trace
    from opentelemetry.exporter.otlp.proto.http import trace_exporter
    from opentelemetry.sdk import resources
    from opentelemetry.sdk import trace as sdk_trace
    from opentelemetry.sdk.trace import export
else:
    export = import_lazily("opentelemetry.sdk.trace.export")
    propagate = import_lazily("opentelemetry.propagate")
    resources = import_lazily("opentelemetry.sdk.resources")
    sdk_trace = import_lazily("opentelemetry.sdk.trace")
    trace = import_lazily("opentelemetry.trace")
    trace_exporter = import_lazily("opentelemetry.exporter.otlp.proto.http.trace_exporter")

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_CAPTURE = "OTEL_PYTHON_INSTRUMENTATION_ELASTICSEARCH_CAPTURE_SEARCH_QUERY"
_NOT_TRACED = ("/healthz", "/readyz", "/metrics")
_PASSED_ON = ("traceparent", "tracestate", "baggage")
"""The headers of a request that carry its trace context."""

_provider: Any = None


def wants_traces(environment: Mapping[str, str]) -> bool:
    """Whether the variables ask for traces."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    return exporter == "otlp" or (not exporter and any(environment.get(name) for name in _ENDPOINTS))


def check_traces(environment: Mapping[str, str]) -> None:
    """Raise UsageError if traces are wanted and cannot be sent."""
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    if exporter not in ("", "otlp", "none"):
        raise UsageError(f"OTEL_TRACES_EXPORTER is otlp or none, not {exporter!r}")
    if not wants_traces(environment):
        return
    protocol = next(filter(None, (environment.get(name) for name in _PROTOCOLS)), _PROTOCOL)
    if protocol != _PROTOCOL:
        raise UsageError(
            f"esr sends traces by {_PROTOCOL} only, not by {protocol!r}: see OTEL_EXPORTER_OTLP_PROTOCOL"
        )
    require("esr serve with traces", "opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")


def install_traces(app: Flask, settings: Settings) -> None:
    """Trace the requests of the application, if the environment asks for it. Runs in each worker."""
    global _provider
    if not wants_traces(os.environ):
        return
    if not settings.query_log:  # of all searches, for the clients that are opened later
        os.environ[_CAPTURE] = "omit"
    esr_itself = resources.Resource({"service.name": "esr"})
    resource = esr_itself.merge(resources.OTELResourceDetector().detect())
    _provider = sdk_trace.TracerProvider(resource=resource, shutdown_on_exit=False)
    _provider.add_span_processor(export.BatchSpanProcessor(trace_exporter.OTLPSpanExporter()))
    trace.set_tracer_provider(_provider)
    tracer = _provider.get_tracer("esr")

    def trace_stage(name: str) -> AbstractContextManager[Any]:
        stack = ExitStack()
        stack.enter_context(tracer.start_as_current_span(f"esr.{name}"))
        stack.enter_context(gate.Stage(name))
        return stack

    gate.make_stage = trace_stage
    _trace_requests(app, tracer)


def note_search(index: str, query: str, hits: int) -> None:
    """Record a search in the span of its request. `query` is "" if queries are not recorded."""
    if _provider is not None:
        attributes = {"esr.index": index, "esr.hits": hits, **({"esr.query": query} if query else {})}
        trace.get_current_span().add_event("search", attributes)


def shut_down_traces() -> None:
    """Send the remaining spans when a worker ends."""
    if _provider is not None:
        _provider.shutdown()


def _trace_requests(app: Flask, tracer: Any) -> None:
    inner = app.wsgi_app

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") in _NOT_TRACED:
            return inner(environ, start_response)
        sent = {name: environ.get(f"HTTP_{name.upper()}", "") for name in _PASSED_ON}
        method = environ["REQUEST_METHOD"]

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Callable[[bytes], object]:
            span.set_attribute("http.response.status_code", int(status[:3]))
            if status[0] == "5":
                span.set_status(trace.StatusCode.ERROR)
            return start_response(status, headers, *error)

        with tracer.start_as_current_span(
            method,
            context=propagate.extract({name: value for name, value in sent.items() if value}),
            kind=trace.SpanKind.SERVER,
            attributes={"http.request.method": method},
        ) as span:
            return inner(environ, start)

    app.wsgi_app = answer  # type: ignore[method-assign]

    @app.after_request
    def name_span(response: Response) -> Response:
        span = trace.get_current_span()
        if request.url_rule is not None:  # the address itself may be private
            span.update_name(f"{request.method} {request.url_rule.rule}")
            span.set_attribute("http.route", request.url_rule.rule)
        span.set_attribute("esr.request_id", g.get("request_id", ""))
        return response
