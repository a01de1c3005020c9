import { byAccount, type Frame, type History } from '../history.ts';
import type { Violation } from './violation.ts';

/** Returns everything in a frame that belongs to one account. */
function namesIn(frame: Frame): { devices: string[]; accounts: (string | null)[]; messages: string[] } {
  const none = { devices: [], accounts: [], messages: [] };
  switch (frame.name) {
    case 'ready':
    case 'presence':
      return { ...none, devices: [...frame.snapshot.online, ...frame.snapshot.offline] };
    case 'message':
      return {
        devices: frame.from === null ? [] : [frame.from],
        accounts: [frame.account],
        messages: [frame.messageId],
      };
    case 'message:delivered':
      return { ...none, devices: [frame.by], messages: frame.messageIds };
    case 'clipboard':
      return { ...none, devices: frame.source === null ? [] : [frame.source], accounts: [frame.account] };
    case 'device:renamed':
      return { ...none, devices: [frame.renamed] };
    case 'device:added':
      return { ...none, devices: [frame.added] };
    default:
      return none;
  }
}

/** No device is told of another account: not of its texts, its devices or its messages. */
export function checkLeaks(history: History): Violation[] {
  const violations: Violation[] = [];
  const messages = new Map<string, string>();
  for (const one of history.operations) {
    if (one.kind === 'message' && one.messageId !== null) messages.set(one.messageId, one.account);
  }
  for (const [account, devices] of byAccount(history)) {
    const own = new Set(devices.map(({ device }) => device));
    for (const { device, frames } of devices) {
      for (const frame of frames) {
        const named = namesIn(frame);
        const foreign = [
          ...named.devices.filter((one) => !own.has(one)),
          ...named.accounts.filter((one) => one !== null && one !== account),
          ...named.messages.filter((id) => (messages.get(id) ?? account) !== account),
        ];
        if (foreign.length === 0) continue;
        const says = `${frame.name} ${frame.id ?? ''} tells of ${foreign.join(', ')}`;
        violations.push({ check: 'leak', at: frame.at, account, device, says });
      }
    }
  }
  return violations;
}

/** These frames never come, because no client of a run causes them: a sign-out, a transfer, a signal. */
export const checkUnasked = ({ devices }: History): Violation[] =>
  devices.flatMap(({ account, device, frames }) =>
    frames.flatMap((frame) =>
      frame.name === 'other'
        ? [{ check: 'unasked' as const, at: frame.at, account, device, says: `got ${frame.what}` }]
        : [],
    ),
  );
