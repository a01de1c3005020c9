import { type Connection, type DeviceHistory, faultsOf, type History, type Operation } from '../history.ts';
import { isCovered, messagesById, namesByAccount, pendingBy, placesOf, sightsOf } from './pending.ts';
import { hasLoss } from './positions.ts';
import type { Reset } from './resets.ts';
import type { Violation } from './violation.ts';

/**
 * Nothing here holds up an open stream for longer. The worst case is a replica that stands still for 13 s, a hole of 12 s on
 * its way to the store, and the time to notice.
 */
const LATEST_MS = 30_000;

/** Returns the stream that was open for all of that time. */
const openFor = ({ connections }: DeviceHistory, from: number, to: number): Connection | undefined =>
  connections.find(({ openAt, closedAt }) => openAt !== null && openAt <= from && (closedAt ?? Infinity) > to);

/** Returns the moments between which an operation happened. It may have been answered long afterwards. */
const windowOf = ({ sentAt, answeredAt }: Operation): [from: number, to: number] => [sentAt, answeredAt + LATEST_MS];

/**
 * A stream that stays open brings what was acknowledged within half a minute, even in the middle of the faults. Nothing waits
 * for the stream to be rotated or for a quiet moment.
 */
export function checkLate(history: History, resets: Map<string, Reset[]>): Violation[] {
  const { devices, operations } = history;
  const names = namesByAccount(history);
  const messages = messagesById(history);
  const places = placesOf(history);
  const byName = new Map(devices.map((one) => [one.device, { ...one, sights: sightsOf(one) }]));
  const faultsBy = new Map([...names.keys()].map((account) => [account, faultsOf(history, account)]));
  const violations: Violation[] = [];
  for (const operation of operations) {
    if (operation.outcome !== 'acknowledged') continue;
    const { account, number, answeredAt } = operation;
    const faults = faultsBy.get(account) ?? [];
    const [from, dueAt] = windowOf(operation);
    // If the store forgot the event meanwhile, there may be nothing to bring.
    if (hasLoss(faults, from, dueAt)) continue;
    for (const { device, key, what, isKept } of pendingBy(operation, names, messages)) {
      const own = byName.get(device);
      const stream = own && openFor(own, answeredAt, dueAt);
      if (own === undefined || stream === undefined || (own.sights.get(key) ?? Infinity) <= dueAt) continue;
      const told = (resets.get(device) ?? []).filter(({ frame, isJustified }) => isJustified && frame.at <= dueAt);
      if (!isKept && isCovered(operation, places.get(key), { faults, resets: told })) continue;
      const says = `${what} of operation ${number} had not come on the open connection ${stream.number} (${stream.replica}) by ${Math.round(dueAt)}`;
      violations.push({ check: 'late', at: answeredAt, account, device, says });
    }
  }
  return violations;
}
