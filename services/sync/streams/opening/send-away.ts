import type { ServerResponse } from 'node:http';
import { reconnectFrame } from '../stream/frames.ts';
import { spreadRetryMs } from '../upkeep/heartbeat.ts';

/** As with the other limits of streams, the client comes back when its rate allows another one. */
const BUSY_MS = [5_000, 15_000] as const;
const STORE_MS = [1_000, 5_000] as const;

/**
 * Answers for an event stream that cannot begin because something that we need is away (`store`) or because too many
 * were opened (`busy`): 200 and `reconnect`, since a native EventSource gives up for good on any other status (CONTRACT.md,
 * "Errors").
 */
export function sendAway(res: ServerResponse, reason: 'store' | 'busy'): void {
  res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  const [fromMs, toMs] = reason === 'busy' ? BUSY_MS : STORE_MS;
  res.end(reconnectFrame(reason, spreadRetryMs(fromMs, toMs)));
}
