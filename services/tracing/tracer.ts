import { basename, dirname } from 'node:path';
import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { VERSION } from '../../shared/service-kit/version.ts';

/** `baton-replica` or `baton-broker`, by the file that was started. */
function nameOf(program: string): string {
  const isBroker = basename(program, '.js') === 'broker' || basename(dirname(program)) === 'broker';
  return isBroker ? 'baton-broker' : 'baton-replica';
}

/** Sends spans to where the environment says (`OTEL_EXPORTER_OTLP_ENDPOINT`, ...), in batches, the last when the process ends. */
export function startTracer(): Tracer {
  const own = resourceFromAttributes({ 'service.name': nameOf(process.argv[1] ?? ''), 'service.version': VERSION });
  const provider = new BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  process.once('beforeExit', () => void provider.shutdown().catch(() => undefined));
  return provider.getTracer('baton', VERSION);
}
