import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { RequestContext } from '../../shared/service-kit/http/request-context.ts';
import { STREAM_OPENED } from '../../shared/service-kit/telemetry/trace-points.ts';

/** Scraped and probed all day long. */
const PROBES = new Set(['/healthz', '/readyz', '/statusz', '/metrics']);

const propagator = new W3CTraceContextPropagator();
const current = new AsyncLocalStorage<Span>();

/** The span of the request that is being answered; undefined where there is none, or it has ended. */
export function currentSpan(): Span | undefined {
  const span = current.getStore();
  return span?.isRecording() ? span : undefined;
}

const pathOf = (req: IncomingMessage): string => (req.url ?? '').split('?', 1)[0] ?? '';

/**
 * One span for each request, below that of whoever sent a `traceparent`. It has the path of the route, not of the request, in
 * which ids stand; nothing of queries, headers and bodies. It ends with the answer, and that of a stream with its head.
 */
export function traceRequests(tracer: Tracer): void {
  const spans = new WeakMap<ServerResponse, Span>();

  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (PROBES.has(pathOf(request))) return;
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
    const method = request.method ?? '';
    const attributes = { 'http.request.method': method };
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    spans.set(response, span);
    current.enterWith(span);
    // Also where the client has left before the answer.
    response.once('close', () => end(response));
  });

  function end(response: ServerResponse): void {
    const span = spans.get(response);
    if (!span?.isRecording()) return;
    const { route, problemCode } = (response as { locals?: Partial<RequestContext> }).locals ?? {};
    const status = response.statusCode;
    if (route) span.updateName(`${route.method} ${route.path}`).setAttribute('http.route', route.path);
    if (problemCode) span.setAttribute('error.type', problemCode);
    span.setAttribute('http.response.status_code', status);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  subscribe('http.server.response.finish', (message) => end((message as { response: ServerResponse }).response));
  subscribe(STREAM_OPENED, (message) => end(message as ServerResponse));
}
