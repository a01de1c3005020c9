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
    /** Sending device. */
    sender: text,
    /** Target: `=<device id>` or `~<name>`. */
    target: text,
    /** Transfer id, '' where there is none. */
    transferId: text,
    kind: text,
    /** Payload, as JSON. */
    payload: text,
    random: randomBits,
    resentAfterMs: resentAfter,
    /** How much older than usual routes may be, in ms. */
    lateMs: number,
  },
  settings: ['RATE_LIMIT'],
  reply: record({ receiver: text, routes: lines(rows({ channel: text, device: text })) }),
  announces: true,
  rate: 'signal',
});
