import type { Deletion } from '../../shared/client/sealing.ts';
import type { Output } from './output.ts';

/*
 * The removal of the account's keys that a device without keys has announced. It takes effect after a day unless it is
 * cancelled.
 */

const WHAT: Readonly<Record<Deletion['of'], string>> = {
  keys: 'All keys of this account are removed',
  account: 'This account is erased',
};

/** The announcements that each output has shown. An empty set: the service was asked, and knew of none. */
const shown = new WeakMap<object, Set<string>>();

/** Tells whether the service was asked for announcements by this command. */
export const wasAsked = (output: object): boolean => shown.has(output);

/** Writes each announcement once for the user of a command, and how to cancel it. */
export function tellAnnounced(output: Pick<Output, 'note'>, deletions: readonly Deletion[]): void {
  const before = shown.get(output) ?? new Set();
  shown.set(output, before);
  for (const { of, at } of deletions) {
    const said = `${WHAT[of]} on ${new Date(at).toLocaleString()}: a device without keys asked for it. Cancel it with \`baton keys keep\` on a device with keys.`;
    if (!before.has(said)) output.note(said);
    before.add(said);
  }
}
