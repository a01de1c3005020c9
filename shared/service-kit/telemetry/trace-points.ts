import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';

/*
 * Points at which a program that is loaded before the service (services/tracing) can observe it. While nothing does, a point
 * costs one comparison.
 */

export interface ScriptCall {
  script: string;
  module: string;
}

/** One call of a script of the store. */
export const scriptCalls = tracingChannel<'baton:script', ScriptCall>('baton:script');

/** The channel for the head of an event stream, a `ServerResponse`. From then on the request counts as answered. */
export const STREAM_OPENED = 'baton:stream-opened';
const streamOpenings = channel(STREAM_OPENED);

/**
 * Returns whether anything subscribes. It is asked before a call is described, so that no description is made needlessly.
 */
export const areScriptsTraced = (): boolean => scriptCalls.start.hasSubscribers;

export function traceOpening(res: ServerResponse): void {
  if (streamOpenings.hasSubscribers) streamOpenings.publish(res);
}
