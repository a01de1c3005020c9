import { CommanderError } from 'commander';
import { CliError, EXIT, failureOf } from './failure.ts';
import { endWithReader, writeFailure } from './output.ts';
import { makeProgram } from './program.ts';
import { environmentWith } from './settings.ts';
import { adviceOnProxy } from './unused-proxy.ts';

declare const BATON_VERSION: string | undefined;

const argv = process.argv.slice(2);

function fail(error: unknown): number {
  const failure = failureOf(error);
  const isAway = ['network', 'timeout'].includes(failure.code);
  const advice = isAway ? adviceOnProxy(environmentWith({}), process.versions.node) : '';
  writeFailure(advice === '' ? failure : new CliError(failure.message + advice, failure), argv.includes('--json'));
  return failure.status;
}

// Node would write the error unescaped.
process.on('uncaughtException', (error) => process.exit(fail(error)));

endWithReader();

try {
  await makeProgram(typeof BATON_VERSION === 'string' ? BATON_VERSION : '0.0.0').parseAsync(argv, { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  else process.exitCode = fail(error);
}
