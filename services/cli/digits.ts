import type { ConfirmGrant } from '../../shared/client/sealing.ts';
import { askYesNo } from './ask.ts';
import { CliError, EXIT } from './failure.ts';

/** The code of the error where the user says that the two devices show different digits. */
export const DIGITS_DIFFER = 'digits_differ';

/** Asks the user to compare the digits before the keys are kept. Undefined: there is no terminal to ask on. */
export function askDigits(signal: AbortSignal): ConfirmGrant | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async ({ checkCode }) => {
    const question = `Check code: ${checkCode}. Are the digits the same on the other device?`;
    if (await askYesNo(question, signal)) return;
    const says =
      'No keys were taken: without the same digits nobody knows who approved this. If it was not you, run `baton logout`.';
    throw new CliError(says, { status: EXIT.refused, code: DIGITS_DIFFER });
  };
}
