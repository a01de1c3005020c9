import type { ServerResponse } from 'node:http';
import { reconnectFrame } from '../stream/frames.ts';
import { spreadRetryMs } from '../upkeep/heartbeat.ts';

/** When the client should come back: as with other limits of streams, when its rate allows another one. */
const BUSY_MS = [5_000, 15_000] as const;
const STORE_MS = [1_000, 5_000] as const;

/**
 * Answers a request for an event stream that cannot begin because a dependency is away (`store`) or too many streams
 * were opened (`busy`). It answers 200 and `reconnect`, because a native EventSource gives up for good on any other
 * status (CONTRACT.md, "Errors").
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
