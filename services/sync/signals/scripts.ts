import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

export const signalSend = defineScript('signal-send', {
  keys: ['devices', 'routes', 'log', 'operation', 'rate', 'transfer', 'accountRate'],
  args: {
    /** Sending device. */
    sender: t.text,
    /** Target: `=<device id>` or `~<name>`. */
    target: t.text,
    /** Transfer id, '' if there is none. */
    transferId: t.text,
    kind: t.text,
    /** Payload, as JSON. */
    payload: t.text,
    random: t.randomBits,
    resentAfterMs: t.resentAfter,
    /** How much older than usual routes may be, in ms. */
    lateMs: t.number,
  },
  reply: t.record({ receiver: t.text, routes: t.lines(t.rows({ channel: t.text, device: t.text })) }),
  announces: true,
  rate: 'signal',
});
