import { traceOutgoing, traceScripts } from './calls.ts';
import { traceRequests } from './requests.ts';
import { startTracer } from './tracer.ts';

/*
 * OpenTelemetry traces of a replica or a broker, for `node --import`: where it is not loaded nothing of it is there.
 * deploy/README.md says how to turn it on.
 */

const tracer = startTracer();
traceRequests(tracer);
traceScripts(tracer);
traceOutgoing(tracer);
