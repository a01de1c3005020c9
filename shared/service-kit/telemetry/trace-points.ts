import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';

/*
 * Where a program that is loaded before the service (services/tracing) can watch it. While nobody does, they cost one
 * comparison.
 */

export interface ScriptCall {
  script: string;
  module: string;
}

/** One call of a script of the store. */
export const scriptCalls = tracingChannel<'baton:script', ScriptCall>('baton:script');

/** The channel on which the head of an event stream is told, a `ServerResponse`: the request is answered, whatever comes after. */
export const STREAM_OPENED = 'baton:stream-opened';
const streamOpenings = channel(STREAM_OPENED);

/** Asked before a call is described: nothing is made for nobody. */
export const areScriptsTraced = (): boolean => scriptCalls.start.hasSubscribers;

export function traceOpening(res: ServerResponse): void {
  if (streamOpenings.hasSubscribers) streamOpenings.publish(res);
}
