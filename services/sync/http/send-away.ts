import type { ServerResponse } from 'node:http';
import { reconnectFrame } from '../hub/frames.ts';
import { spreadRetryMs } from '../hub/heartbeat.ts';

/**
 * Answers for an event stream that cannot begin because something that we need is away: 200 and `reconnect`, since a
 * native EventSource gives up for good on any other status (contract section 2).
 */
export function sendAway(res: ServerResponse): void {
  res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  res.end(reconnectFrame('store', spreadRetryMs(1_000, 5_000)));
}
