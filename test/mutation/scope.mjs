import { basename } from 'node:path';
import { filesUnder } from '../../deploy/local/setup/tree.mjs';

/*
 * The files that are mutated, and the tests that have to notice. They are run in this order and end with the first failure,
 * so the fastest come first. A file that is in no part is not mutated.
 */
const SENT_AGAIN = 'test/unit/redis/sent-again.test.ts';
const RATES = 'test/wire/limits/rate-limits-of-accounts.test.ts';
const CLIENT_STREAM = [
  ...['pace', 'silence', 'frames', 'resume', 'reconnect', 'life'].map(
    (name) => `test/unit/client/stream-${name}.test.ts`,
  ),
  'test/unit/client/checked-events.test.ts',
];
const SEALED = [
  'vectors',
  'envelope',
  'words',
  'chain',
  'guests',
  'records',
  'content',
  'independent',
  'linking',
  'ring-fields',
  'change',
  'ring',
].map((name) => `test/unit/client/sealed/${name}.test.ts`);
const NAMED_RINGS = ['test/unit/client/sealing/disagreeing.test.ts', ...SEALED];
const NEWEST_GUESTS = ['test/unit/client/sealed/newest-guests.test.ts', ...SEALED];
/** Names tests that run single scripts in the real store, with a clock that stands still. A mutant takes a second. */
const scripts = (module, ...names) => names.map((name) => `test/unit/${module}/scripts/${name}.test.ts`);
const TRANSFER_SCRIPTS = scripts(
  'transfers',
  ...['reads', 'phase', 'generation', 'act', 'init', 'end', 'view'].map((name) => `transfer-${name}`),
);
const MESSAGE_SCRIPTS = scripts('messages', 'message-accept', 'mail-page', 'mailbox', 'kept-targets', 'told-before');
const PUSH_SCRIPTS = scripts('push', 'push-register', 'push-enqueue', 'push-take', 'push-finish');
const commands = (...names) => names.map((name) => `test/commands/${name}.test.ts`);

const PARTS = [
  {
    files: /^services\/sync\/clipboard\/lua\/.*\.lua$/,
    tests: [
      'test/unit/redis/clipboard-scripts.test.ts',
      SENT_AGAIN,
      RATES,
      ...commands('clipboard', 'sealed', 'clipboard-retention'),
    ],
  },
  {
    files: /^services\/sync\/redis\/prelude\/(?:log|operation|rate|routes)\.lua$/,
    tests: [
      ...scripts('redis', 'log', 'operation', 'rate', 'routes'),
      ...MESSAGE_SCRIPTS,
      ...scripts('transfers', 'transfer-init', 'transfer-act'),
      SENT_AGAIN,
    ],
  },
  {
    files: /^services\/sync\/devices\/(?:lua|prelude)\/.*\.lua$/,
    // A signal finds the device that its target means.
    tests: [
      ...scripts('devices', 'names', 'device-add', 'device-rename', 'device-remove'),
      ...scripts('signals', 'signal-send'),
    ],
  },
  {
    files: /^services\/sync\/push\/prelude\/.*\.lua$/,
    // Scripts that accept messages and offers enqueue pushes too.
    tests: [...PUSH_SCRIPTS, ...MESSAGE_SCRIPTS, ...scripts('transfers', 'transfer-init')],
  },
  {
    files: /^services\/sync\/push\/lua\/.*\.lua$/,
    tests: PUSH_SCRIPTS,
  },
  {
    files: /^services\/sync\/keys\/(?:lua|prelude)\/.*\.lua$/,
    tests: scripts('keys', 'keyring-put', 'keyring-removal', 'keyring-read'),
  },
  {
    files: /^services\/sync\/signin\/lua\/invite-.*\.lua$/,
    tests: scripts('signin', 'invite'),
  },
  {
    files: /^services\/sync\/signin\/(?:lua|prelude)\/login.*\.lua$/,
    tests: scripts('signin', 'login-decide', 'login-poll'),
  },
  {
    files: /^services\/sync\/relay\/lua\/relay-(?:reserve|release|keep|read|unread|readers)\.lua$/,
    tests: scripts('relay', 'lists'),
  },
  {
    files: /^services\/sync\/relay\/lua\/relay-(?:commit|take|wait-read|wait-write)\.lua$/,
    tests: scripts('relay', 'bytes', 'generations'),
  },
  {
    files: /^services\/sync\/relay\/(?:lua|prelude)\/.*\.lua$/,
    tests: scripts('relay', 'generations', 'bytes'),
  },
  {
    files: /^services\/sync\/replicas\/lua\/.*\.lua$/,
    tests: scripts('replicas', 'leases'),
  },
  {
    files: /^services\/sync\/sessions\/lua\/.*\.lua$/,
    tests: scripts('sessions', 'sessions'),
  },
  {
    files: /^services\/sync\/identity\/lua\/.*\.lua$/,
    tests: scripts('identity', 'key-set-keep'),
  },
  {
    files: /^services\/(?:sync|broker)\/redis\/prelude\/(?:clock|space)\.lua$/,
    tests: scripts('redis', 'clock', 'space'),
  },
  {
    files: /^services\/sync\/(?:redis\/prelude\/route-rows|replicas\/prelude\/liveness)\.lua$/,
    tests: scripts('streams', 'stream-attach', 'ended-routes', 'stream-open', 'stream-quota', 'presence'),
  },
  {
    files: /^services\/broker\/(?:sessions\/lua\/session-mint|sessions\/prelude\/session)\.lua$/,
    tests: scripts('broker', 'session-mint', 'session-secrets', 'session-end'),
  },
  {
    files: /^services\/broker\/(?:keyring\/lua\/.*|sessions\/lua\/session-(?:open|page|revoke))\.lua$/,
    tests: scripts('broker', 'session-end'),
  },
  {
    files: /^services\/broker\/sessions\/(?:lua|prelude)\/.*\.lua$/,
    tests: scripts('broker', 'session-secrets', 'session-mint'),
  },
  {
    files: /^services\/sync\/due\/lua\/.*\.lua$/,
    tests: scripts('due', 'due'),
  },
  {
    files: /^services\/sync\/redis\/lua\/account-notify\.lua$/,
    tests: scripts('redis', 'routes'),
  },
  {
    files: /^services\/sync\/signals\/lua\/.*\.lua$/,
    tests: scripts('signals', 'signal-send'),
  },
  {
    files: /^services\/sync\/messages\/lua\/(?:message-accept|mail-page)\.lua$/,
    tests: [...MESSAGE_SCRIPTS, SENT_AGAIN],
  },
  {
    files: /^services\/sync\/messages\/lua\/message-ack\.lua$/,
    tests: [SENT_AGAIN, RATES, ...commands('idempotency', 'names-that-look-one', 'sealed', 'mailbox', 'messages')],
  },
  {
    files: /^services\/sync\/messages\/prelude\/.*\.lua$/,
    // A stream that opens purges its mailbox.
    tests: [...MESSAGE_SCRIPTS, ...scripts('streams', 'stream-open')],
  },
  {
    files: /^services\/sync\/streams\/(?:lua|prelude)\/(?:log-page|position)\.lua$/,
    tests: scripts('streams', 'log-page', 'stream-open'),
  },
  {
    files: /^services\/sync\/streams\/(?:lua|prelude)\/.*\.lua$/,
    tests: scripts('streams', 'stream-attach', 'stream-open', 'stream-quota'),
  },
  {
    files: /^services\/sync\/presence\/(?:lua|prelude)\/.*\.lua$/,
    tests: scripts('streams', 'presence', 'ended-routes', 'stream-open', 'stream-attach'),
  },
  {
    files: /^services\/sync\/transfers\/lua\/.*\.lua$/,
    tests: TRANSFER_SCRIPTS,
  },
  {
    files: /^services\/sync\/transfers\/prelude\/.*\.lua$/,
    // A stream that opens counts the offers to its device.
    tests: [...TRANSFER_SCRIPTS, ...scripts('streams', 'stream-open')],
  },
  {
    files: /^services\/sync\/transfers\/(?:file-list|file-names|listing|view)\.ts$/,
    tests: ['file-names', 'file-list', 'view', 'listing'].map((name) => `test/unit/transfers/${name}.test.ts`),
  },
  {
    files: /^services\/sync\/devices\/(?:devices|row)\.ts$/,
    tests: ['row', 'devices'].map((name) => `test/unit/devices/${name}.test.ts`),
  },
  {
    files: /^services\/sync\/devices\/several-names\.ts$/,
    tests: commands('device-names', 'names-that-look-one', 'device-events'),
  },
  { files: /^services\/sync\/clipboard\/clipboard\.ts$/, tests: ['test/unit/clipboard/clipboard.test.ts'] },
  { files: /^shared\/client\/stream\/.*\.ts$/, tests: CLIENT_STREAM },
  { files: /^shared\/client\/sealed\/ring\/named-rings\.ts$/, tests: NAMED_RINGS },
  { files: /^shared\/client\/sealed\/ring\/newest-guests\.ts$/, tests: NEWEST_GUESTS },
  {
    files: /^shared\/client\/sealed\/ring\/words-member\.ts$/,
    tests: ['test/unit/client/sealed/change.test.ts', 'test/unit/client/sealing/recovery.test.ts'],
  },
  { files: /^shared\/client\/sealed\/(?:content\/(?:records|envelope)|ring\/.*)\.ts$/, tests: SEALED },
];

/** Returns the tests of a file: those with its name, then the fastest; empty if the file is not mutated. */
export function testsOf(file) {
  const tests = PARTS.find(({ files }) => files.test(file))?.tests ?? [];
  const name = new RegExp(`[/-]${basename(file).split('.')[0]}[-.]`);
  return [...tests.filter((test) => name.test(test)), ...tests.filter((test) => !name.test(test))];
}

/** Returns every file that is mutated. */
export const filesInScope = () => ['services', 'shared'].flatMap(filesUnder).filter((file) => testsOf(file).length > 0);
