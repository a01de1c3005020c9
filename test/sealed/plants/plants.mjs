/*
 * Faults of the client that the judge of the hostile run has to find: each takes one check away. `changes` are texts of the
 * file, and what they become.
 */

const CLIENT = 'shared/client';
const RECORDS = `${CLIENT}/sealed/content/records.ts`;
const SIGNALS = `${CLIENT}/sealing/sealed-signals.ts`;
const FILES = `${CLIENT}/sealing/files.ts`;
const TEXTS = `${CLIENT}/sealing/texts.ts`;
const RINGS = `${CLIENT}/sealing/rings.ts`;
const DELETIONS = `${CLIENT}/sealing/deletions.ts`;
const GONE = `${CLIENT}/sealing/gone.ts`;

const plant = (name, file, ...changes) => ({ name, file, changes });

export const PLANTS = [
  plant('a record opens in any place', RECORDS, ['u64(record), Uint8Array.of(record === count - 1 ? 1 : 0)', 'u64(0)']),
  plant('a record opens in any file of its transfer', RECORDS, ['u32(index)', 'u32(0)']),
  plant('a record opens in any transfer with its key', RECORDS, ['concat(id, u32(index)', 'concat(u32(index)']),
  plant('a file is sealed from the wrong byte on', RECORDS, [
    'let skipped = offset - first * SEALED_RECORD',
    'let skipped = 0 * offset',
  ]),
  plant('a file goes on at the beginning of a record', `${CLIENT}/sealing/opening-sink.ts`, [
    'let skipped = offset - start;',
    'let skipped = 0 * start;',
  ]),
  plant('the name of a file is sent', `${CLIENT}/sealing/sealed-source.ts`, ['plainNameOf(index)', 'source.name']),
  plant('fewer files are taken than were described', FILES, [
    'files.length !== given.length || files.length !== transfer.file_count || !isSame',
    'files === undefined',
  ]),
  plant('files of a removed device are taken', FILES, [
    'if (description.sender.isRemoved)',
    'if (description.key.length === 0)',
  ]),
  plant('an offer is taken again under another id', FILES, ['before.messageId !== id', 'before.n < 0']),
  plant('the sender is not told that files were damaged', `${CLIENT}/transfers/transfer-run.ts`, [
    "const told = caller.call('failTransfer'",
    "const told = caller.call('getTransfer'",
  ]),
  plant(
    'a signal is taken under another kind',
    SIGNALS,
    ['if (opened.kind !== kind', 'if (opened.kind === null'],
    ['side.take(signalIn(opened))', 'side.take({ ...signalIn(opened), kind })'],
  ),
  plant('a signal is taken that is not sealed', SIGNALS, ["return kind === 'bye' &&", 'return kind &&']),
  plant('a signal is taken twice', SIGNALS, ['n <= newest', 'n < newest']),
  plant('a signal is taken after a later one', SIGNALS, ['n <= newest', 'n === newest']),
  plant('a bye is taken that is not sealed, although others are', SIGNALS, ["'bye' && newest === 0", "'bye'"]),
  plant('a device takes its own signals', `${CLIENT}/sealed/content/signals.ts`, [
    "signal', from, transferId",
    "signal', transferId",
  ]),
  plant('words recover by rings that they have not signed', `${CLIENT}/sealing/recovery.ts`, [
    'start !== null && (await hasStated(signature, { first: start, n }, own))',
    'start !== null',
  ]),
  plant('a grant opens without the secret of its code', `${CLIENT}/sealed/link/grant.ts`, [
    "hkdf(secret, 'baton/1 link')",
    "hkdf(secret.slice(0, 0), 'baton/1 link')",
  ]),
  plant('a list takes a member out at once', GONE, ['const AWAY_MS = 90 * 86_400_000', 'const AWAY_MS = -1']),
  plant('the clock of the service takes a member out', GONE, [
    'Math.min(...clocks), Math.max(...clocks)',
    'clocks[0], clocks[0]',
  ]),
  plant('a device that is listed twice gets a text twice', TEXTS, ['[...listed.values()].filter', 'devices.filter']),
  plant('a device without keys gets a text unasked', TEXTS, ['of plain ? others : keyed', 'of others']),
  plant('a device with keys gets a plain text', TEXTS, [
    'const body = isSealed ? { sealed',
    'const body = plain === false ? { sealed',
  ]),
  plant('keys are used although the service has none', RINGS, [
    "if (answer === null) throw sealingError('keys_gone');\n      const taken",
    'if (answer === null) return { keyring: (await loadKeyring(store, serverNow())) as never, putBack: [], hasMore: false, listProblem: null };\n      const taken',
  ]),
  plant('new keys are made while the service has none', RINGS, [
    'if (isOld || (anew &&',
    'if (isOld || (kind !== null &&',
  ]),
  plant('an announced removal is not told', `${CLIENT}/sealing/ring-calls.ts`, [
    'announced = deletions',
    'announced = []',
  ]),
  plant('an objection can be taken for a removal', DELETIONS, ["'baton/1 keys keep', times", "'baton/1 keys delete'"]),
  plant('an objection names no time', DELETIONS, ["'baton/1 keys keep', times", "'baton/1 keys keep'"]),
];
