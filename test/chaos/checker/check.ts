import type { History } from '../history.ts';
import { checkDoubles } from './double.ts';
import { checkLate } from './late.ts';
import { checkLeaks, checkUnasked } from './leak.ts';
import { checkFaults, checkProbes, checkSuperseded } from './liveness.ts';
import { checkLoss, checkRefused } from './loss.ts';
import { checkOrder } from './order.ts';
import { checkPresence } from './presence.ts';
import { checkResets, findResets } from './resets.ts';
import { checkSize } from './size.ts';
import type { Violation } from './violation.ts';

/** Returns every promise with its violations. */
export function check(history: History): Record<string, Violation[]> {
  const resets = findResets(history);
  return {
    // Judges G1, G3, G4, G20.
    'what was acknowledged is seen, or covered by a reset with a cause': checkLoss(history, resets),
    'what was refused did not happen': checkRefused(history),
    // Judges G1, G18.
    'a reset has a cause that really happened': checkResets(history, resets),
    // Judges G5.
    'ids rise': checkOrder(history),
    // Judges G2, G9, G10.
    'one thing has one id': checkDoubles(history),
    'nobody hears of another account': checkLeaks(history),
    // Judges G6, G7.
    'presence is right after quiet, and never calls the present absent': checkPresence(history),
    // Judges G1, G22.
    'no stream is open but silent': [...checkProbes(history), ...checkLate(history, resets)],
    'the only stream of a device is not superseded': checkSuperseded(history),
    // Judges G25.
    'replicas end as they should': checkFaults(history),
    'nothing came that nobody did': checkUnasked(history),
    'as much happened as was asked for': checkSize(history),
  };
}
