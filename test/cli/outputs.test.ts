import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/* Outputs that take nothing. */

const PROGRAM = fileURLToPath(new URL('../../services/cli/dist/baton.js', import.meta.url));

const inShell = (command: string) =>
  spawnSync('sh', ['-c', command, process.execPath, PROGRAM], { encoding: 'utf8', timeout: 30_000 });

test('a full disk behind standard output is said', () => {
  const { status, stderr } = inShell('"$0" "$1" manual > /dev/full');
  expect(stderr).toMatch(/^baton: Standard output cannot be written: .*ENOSPC/);
  expect(status).toBe(1);
});

test('a reader that has left ends the command without a word', () => {
  const { stdout, stderr } = inShell('{ "$0" "$1" manual; echo "status $?" >&2; } | head -1');
  expect(stdout.split('\n')).toHaveLength(2);
  expect(stderr).toBe('status 0\n');
});
