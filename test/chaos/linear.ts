import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('linear/', import.meta.url));

/** Throws an error for people if the checker of operations cannot be built. */
export function requireGo(): void {
  const { status } = spawnSync('go', ['build', '-o', '/dev/null', '.'], {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('--history needs Go, which builds the checker of operations (test/chaos/linear)');
}

/**
 * Judges the operations of a file of JSON lines, and prints the verdict. Returns how many promises were kept and how
 * many were not.
 */
export function judgeOperations(file: string): { passed: number; failed: number } {
  const { status, stdout, stderr } = spawnSync('go', ['run', '.', resolve(file)], { cwd: FOLDER, encoding: 'utf8' });
  const [, passed = '0', failed = '1'] = /^(\d+) passed, (\d+) failed$/m.exec(stdout) ?? [];
  process.stdout.write(`operations, in one order:\n${stdout}${status === 0 ? '' : stderr}`);
  return { passed: Number(passed), failed: Number(failed) };
}
