import { pushJobs, pushSchedule } from '../push/push-queue.ts';
import { defineScript } from '../redis/script.ts';
import {
  digits,
  json,
  lines,
  number,
  randomBits,
  record,
  resentAfter,
  rest,
  restOfWords,
  rows,
  text,
  textList,
  wordSet,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const messageAccept = defineScript({
  file: new URL('./lua/message-accept.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'mail', 'inbox', 'operation', 'rate', 'push', 'due', 'accountRate', 'targets'],
  args: {
    /** Device of the sender, '' without. */
    sender: text,
    /** Name of a sender without device. */
    fromName: text,
    /** Target: `*`, `=<device id>` or `~<name>`. */
    wanted: text,
    messageId: text,
    /** Content as a JSON string, followed by the sealed text in its place, as a field. */
    content: text,
    /** Bytes of the content or of the sealed text, or of its JSON when that is longer. */
    bytes: number,
    random: randomBits,
    fingerprint: text,
    /** Seconds for which the answer is kept; 0 when it is not. */
    rememberSeconds: digits,
    resentAfterMs: resentAfter,
    pushes: pushSchedule,
    dead: wordSet,
    /** Ms that rows may be older than usual. */
    lateMs: number,
  },
  settings: ['RATE_LIMIT'],
  reply: record({
    messageId: text,
    createdAtMs: number,
    targets: json<[string, string, string, boolean][]>(),
    routes: lines(rows({ channel: text, device: text })),
    jobs: pushJobs,
  }),
  announces: true,
  rate: 'message',
});

export const messageAck = defineScript({
  file: new URL('./lua/message-ack.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'mail', 'inbox', 'operation'],
  args: {
    /** Device that acknowledges. */
    device: text,
    random: randomBits,
    resentAfterMs: resentAfter,
    messageIds: restOfWords,
  },
  reply: record({ acked: number }),
  announces: true,
  runsWhenFull: true,
});

export const mailPage = defineScript({
  file: new URL('./lua/mail-page.lua', import.meta.url),
  keys: ['devices', 'log', 'mail', 'inbox'],
  args: {
    device: text,
    /** Member after which to go on, '' for the first page. */
    after: text,
    /** Position of the stream, '' for everything. */
    position: text,
  },
  constants: {
    /** Bytes of a page of a mailbox. A stream whose client is slow holds the page in memory. */
    PAGE_BYTES: 32 * 1024,
  },
  reply: record({ next: text, open: rest(textList) }),
});
