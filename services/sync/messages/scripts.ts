import { pushJobs, pushSchedule } from '../push/push-queue.ts';
import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

export const messageAccept = defineScript('message-accept', {
  keys: ['devices', 'routes', 'log', 'mail', 'inbox', 'operation', 'rate', 'push', 'due', 'accountRate', 'targets'],
  args: {
    /** Device of the sender, '' without. */
    sender: t.text,
    /** Name of a sender without a device. */
    fromName: t.text,
    /** Target: `*`, `=<device id>` or `~<name>`. */
    wanted: t.text,
    messageId: t.text,
    /** Content as a JSON string, followed by the sealed text in its place, as a field. */
    content: t.text,
    /** Bytes of the content or of the sealed text, or of its JSON when that is longer. */
    bytes: t.number,
    random: t.randomBits,
    fingerprint: t.text,
    /** Seconds for which the answer is kept; 0 when it is not. */
    rememberSeconds: t.digits,
    resentAfterMs: t.resentAfter,
    pushes: pushSchedule,
    dead: t.wordSet,
    /** Ms that rows may be older than usual. */
    lateMs: t.number,
  },
  reply: t.record({
    messageId: t.text,
    createdAtMs: t.number,
    targets: t.json<[string, string, string, boolean][]>(),
    routes: t.lines(t.rows({ channel: t.text, device: t.text })),
    jobs: pushJobs,
  }),
  announces: true,
  rate: 'message',
});

export const messageAck = defineScript('message-ack', {
  keys: ['devices', 'routes', 'log', 'mail', 'inbox', 'operation'],
  args: {
    /** Device that acknowledges. */
    device: t.text,
    random: t.randomBits,
    resentAfterMs: t.resentAfter,
    messageIds: t.restOfWords,
  },
  reply: t.record({ acked: t.number }),
  announces: true,
  runsWhenFull: true,
});

export const mailPage = defineScript('mail-page', {
  keys: ['devices', 'log', 'mail', 'inbox'],
  args: {
    device: t.text,
    /** Member after which to go on, '' for the first page. */
    after: t.text,
    /** Position of the stream, '' for everything. */
    position: t.text,
  },
  constants: {
    /** Bytes of a page of a mailbox. A stream whose client is slow holds the page in memory. */
    PAGE_BYTES: 32 * 1024,
  },
  reply: t.record({ next: t.text, open: t.rest(t.textList) }),
});
