import { defineScript } from '../redis/script.ts';
import {
  lines,
  number,
  randomBits,
  record,
  resentAfter,
  rows,
  text,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const signalSend = defineScript({
  file: new URL('./lua/signal-send.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'operation', 'rate', 'transfer', 'accountRate'],
  args: {
    /** Device that sends. */
    sender: text,
    /** Target: `=<device id>` or `~<name>`. */
    target: text,
    /** Transfer id, '' without. */
    transferId: text,
    kind: text,
    /** Payload as JSON. */
    payload: text,
    random: randomBits,
    resentAfterMs: resentAfter,
    /** Ms that rows may be older than usual. */
    lateMs: number,
  },
  settings: ['RATE_LIMIT'],
  reply: record({ receiver: text, routes: lines(rows({ channel: text, device: text })) }),
  announces: true,
  rate: 'signal',
});
