import { LIMITS } from '../../shared/contract/limits.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** What the store needs for a byte of ours: its tables, and space that a growing value has not used yet. */
const OVERHEAD = 2;
/** What one entry of a small table takes. */
const ROW = 1 * KIB;

/** The longest event: a signal, or the offer of a transfer with the files that events name. */
const EVENT_BYTES = 32 * KIB;

/**
 * Bytes of Redis that one account may take, by the kind of its keys, from the limits of the contract; the README's table
 * says the same for people. A kind that is not here may not be there at all.
 */
export const CAPS: Readonly<Record<string, number>> = {
  mail: LIMITS.mailboxBytes * OVERHEAD,
  inbox: LIMITS.devicesPerAccount * LIMITS.mailboxMessages * 200 * OVERHEAD,
  log: LIMITS.logEvents * EVENT_BYTES * OVERHEAD,
  clipboard: LIMITS.clipboardBytes * OVERHEAD,
  transfer: 32 * MIB * OVERHEAD,
  'relay bytes': LIMITS.relayFiles * (LIMITS.relayWindowBytes + LIMITS.relayTailBytes + MIB),
  relay: MIB,
  devices: LIMITS.devicesPerAccount * ROW,
  routes: LIMITS.streamsPerAccount * ROW,
  presence: LIMITS.devicesPerAccount * ROW,
  push: LIMITS.devicesPerAccount * 8 * KIB,
  due: MIB,
  op: 32 * MIB,
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
