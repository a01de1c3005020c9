import type { ConfirmGrant } from '../../shared/client/sealing.ts';
import { askYesNo } from './ask.ts';
import { CliError, EXIT } from './failure.ts';

/** The code of the error if the user says that the two devices show different digits. */
export const DIGITS_DIFFER = 'digits_differ';

/** Asks the user to compare the digits before the keys are kept. Undefined: there is no terminal to ask on. */
export function askDigits(signal: AbortSignal): ConfirmGrant | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async ({ checkCode }) => {
    const question = `Check code: ${checkCode}. Are the digits the same on the other device?`;
    if (await askYesNo(question, signal)) return;
    const says = 'No keys were taken: without the same digits nobody knows who approved this.';
    throw new CliError(says, { status: EXIT.refused, code: DIGITS_DIFFER });
  };
}

/** Keeps every other command from taking an approval whose digits were not compared. */
export const refuseUncompared: ConfirmGrant = ({ checkCode }) => {
  const says = `This device was approved, and nobody has compared its check code, ${checkCode}. \`baton keys link\` asks for that. If you do not know who approved it, run \`baton logout\`.`;
  return Promise.reject(new CliError(says, { status: EXIT.refused, code: 'digits_not_compared' }));
};
