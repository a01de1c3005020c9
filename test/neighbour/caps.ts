import { ACCOUNT_BYTES, LIMITS } from '../../shared/contract/limits.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** The bytes that the store needs for a byte of Baton's: its tables, and space that a growing value has not used yet. */
const OVERHEAD = 2;
/** The bytes that one entry of a small table takes. */
const ROW = 1 * KIB;

/** Limits that a version of the contract may lack. The value behind `??` then stands for the limit. */
const limits: Readonly<Record<string, number | undefined>> = LIMITS;

/** The longest event: a signal, or the offer of a transfer with the files that events name. */
const EVENT_BYTES = 32 * KIB;
const logBytes = limits['logBytes'] ?? LIMITS.logEvents * EVENT_BYTES;

/** The bytes of a record without its list of files. Ended records keep the list only when it is short. */
const RECORD_BYTES = 4 * KIB;
const transferBytes = (limits['transferBytes'] ?? 8 * MIB) + (limits['transferRecords'] ?? 500) * RECORD_BYTES;

/** The bytes that files hold ahead of their receivers, the bytes behind them, and those of delivered files. */
const relayBytes =
  LIMITS.relayFiles * (LIMITS.relayWindowBytes + LIMITS.relayTailBytes + (limits['relayChunkBytes'] ?? MIB)) +
  (limits['relayKeptFiles'] ?? 0) * LIMITS.relayWindowBytes;

/**
 * Bytes of Redis that one account may take, by the kind of its keys, from the limits of the contract. The table of
 * GUARANTEES.md says the same for people. A kind that is missing here may not exist at all.
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
  // Answers are kept for repeated requests: all of them for 60 s, those under a client's key for 600 s.
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

/** The most that the store may hold of answers that replicas have not read yet, for all accounts together. */
export const CONNECTION_BYTES = 64 * MIB;
