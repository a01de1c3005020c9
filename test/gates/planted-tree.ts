import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** A copy of this checkout in which a test plants violations. */
export interface PlantedTree {
  /** Runs a Node script of the copy. The output has both streams together, in the order in which they came. */
  run(args: string[], env?: Record<string, string>): Promise<{ code: number; output: string }>;
  /** Writes a file of the copy. */
  write(file: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

export async function makePlantedTree(files: readonly { file: string; text: string }[] = []): Promise<PlantedTree> {
  const root = await mkdtemp(join(tmpdir(), 'baton-planted-'));
  await cp(ROOT, root, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  };
  for (const { file, text } of files) await write(file, text);
  return {
    write,
    run: (args, env = {}) =>
      new Promise((resolve) => {
        const options = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024 };
        execFile(process.execPath, args, options, (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
        });
      }),
    remove: () => rm(root, { recursive: true }),
  };
}
