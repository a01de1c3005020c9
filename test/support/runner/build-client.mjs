import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds the library once for all files, which pack it at the same time. */
export default function buildPackage() {
  const cwd = fileURLToPath(new URL('../../../', import.meta.url));
  execFileSync('npm', ['run', '--silent', 'build:client'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
