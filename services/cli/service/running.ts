import { execFile } from 'node:child_process';
import { CliError } from '../failure.ts';
import { oneLine } from '../output.ts';

/** The end of a program of this computer. */
interface Ended {
  readonly status: number;
  readonly said: string;
}

/** Runs a program of this computer to its end. Throws if it is not there. */
export function runProgram(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { windowsHide: true }, (error, stdout, stderr) => {
      const said = oneLine(`${stdout}\n${stderr}`.trim());
      if (error === null) return resolve({ status: 0, said });
      if (typeof error.code === 'number') return resolve({ status: error.code, said });
      reject(new CliError(`${program} cannot be started: ${oneLine(error.message)}`, { code: 'service_failed' }));
    });
  });
}

/** Runs a program that has to succeed. */
export async function mustRun(program: string, args: readonly string[]): Promise<void> {
  const { status, said } = await runProgram(program, args);
  if (status === 0) return;
  const message = `\`${[program, ...args].join(' ')}\` ended with status ${status}: ${said || 'it said nothing'}`;
  throw new CliError(message, { code: 'service_failed' });
}
