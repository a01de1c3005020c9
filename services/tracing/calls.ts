import { subscribe } from 'node:diagnostics_channel';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { TRACE_PARENT_HEADER } from '@opentelemetry/core';
import { type ScriptCall, scriptCalls } from '../../shared/service-kit/telemetry/trace-points.ts';
import { currentSpan } from './requests.ts';

/** What a call does below the request that is being answered; undefined where it is done for none. */
function startBelow(tracer: Tracer, name: string, attributes: Record<string, string>): Span | undefined {
  const parent = currentSpan();
  return parent && tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, parent));
}

/** A span for each script of the store that a request runs. */
export function traceScripts(tracer: Tracer): void {
  const spans = new WeakMap<ScriptCall, Span>();
  scriptCalls.subscribe({
    start(call) {
      const span = startBelow(tracer, call.script, { 'db.system.name': 'redis', 'baton.module': call.module });
      if (span) spans.set(call, span);
    },
    end() {},
    asyncStart() {},
    asyncEnd: (call) => spans.get(call)?.end(),
    error: (call) => spans.get(call)?.setStatus({ code: SpanStatusCode.ERROR }),
  });
}

/** A request of the HTTP client. */
interface OutgoingRequest {
  origin: string;
  method: string;
  addHeader: (name: string, value: string) => void;
}

/** A span for each request to the broker or a push service; it ends with the head of the answer. The broker is told whose it is. */
export function traceOutgoing(tracer: Tracer): void {
  const spans = new WeakMap<object, Span>();
  subscribe('undici:request:create', (message) => {
    const { request } = message as { request: OutgoingRequest };
    const server = String(request.origin);
    const span = startBelow(tracer, request.method, {
      'http.request.method': request.method,
      'server.address': server,
    });
    if (!span) return;
    spans.set(request, span);
    const { traceId, spanId, traceFlags } = span.spanContext();
    const flags = traceFlags.toString(16).padStart(2, '0');
    request.addHeader(TRACE_PARENT_HEADER, `00-${traceId}-${spanId}-${flags}`);
  });
  subscribe('undici:request:headers', (message) => {
    const { request, response } = message as { request: object; response: { statusCode: number } };
    spans.get(request)?.setAttribute('http.response.status_code', response.statusCode).end();
  });
  subscribe('undici:request:error', (message) => {
    spans
      .get((message as { request: object }).request)
      ?.setStatus({ code: SpanStatusCode.ERROR })
      .end();
  });
}
