import { ACCOUNT_BYTES, LIMITS } from '../../shared/contract/limits.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** What the store needs for a byte of ours: its tables, and space that a growing value has not used yet. */
const OVERHEAD = 2;
/** What one entry of a small table takes. */
const ROW = 1 * KIB;

/** Limits that a version of the contract may lack; what stands behind `??` is then taken for meant. */
const limits: Readonly<Record<string, number | undefined>> = LIMITS;

/** The longest event: a signal, or the offer of a transfer with the files that events name. */
const EVENT_BYTES = 32 * KIB;
const logBytes = limits['logBytes'] ?? LIMITS.logEvents * EVENT_BYTES;

/** A record without its list of files, which ended ones keep only when it is short. */
const RECORD_BYTES = 4 * KIB;
const transferBytes = (limits['transferBytes'] ?? 8 * MIB) + (limits['transferRecords'] ?? 500) * RECORD_BYTES;

/** What files hold ahead of their receivers, behind them, and of those that were delivered. */
const relayBytes =
  LIMITS.relayFiles * (LIMITS.relayWindowBytes + LIMITS.relayTailBytes + (limits['relayChunkBytes'] ?? MIB)) +
  (limits['relayKeptFiles'] ?? 0) * LIMITS.relayWindowBytes;

/**
 * Bytes of Redis that one account may take, by the kind of its keys, from the limits of the contract; the table of GUARANTEES.md
 * says the same for people. A kind that is not here may not be there at all.
 */
export const CAPS: Readonly<Record<string, number>> = {
  mail: LIMITS.mailboxBytes * OVERHEAD,
  inbox: LIMITS.devicesPerAccount * LIMITS.mailboxMessages * 200 * OVERHEAD,
  offers: ACCOUNT_BYTES.offers * OVERHEAD,
  log: logBytes * OVERHEAD,
  clipboard: LIMITS.sealedClipboardBytes * OVERHEAD,
  keys: ACCOUNT_BYTES.keys * OVERHEAD,
  transfer: transferBytes * OVERHEAD,
  transfers: MIB,
  'relay bytes': relayBytes,
  relay: MIB,
  devices: LIMITS.devicesPerAccount * ROW,
  routes: LIMITS.streamsPerAccount * ROW,
  presence: LIMITS.devicesPerAccount * ROW,
  push: LIMITS.devicesPerAccount * 8 * KIB,
  due: MIB,
  // Answers that are kept for a request that comes again: 60 s of everything, 600 s of what a client names by a key.
  op: ACCOUNT_BYTES.operations,
  targets: ACCOUNT_BYTES.targets,
  rate: MIB,
  'wrong-codes': ROW,
  'shared: login': MIB,
  'shared: push': MIB,
  'shared: rate': MIB,
  'shared: {sys}:revoked': MIB,
  'shared: due': MIB,
};

/** What the store holds of answers that replicas have not read yet, all accounts together. */
export const CONNECTION_BYTES = 64 * MIB;
