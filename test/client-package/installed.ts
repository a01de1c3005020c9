import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAMS = fileURLToPath(new URL('./programs/', import.meta.url));
const run = promisify(execFile);

/** This is less than the time limit of a test, so that the output is shown. */
const PATIENCE_MS = 60_000;

/** A folder that has only the packed library, installed as an outside developer does. */
export interface Installed {
  readonly folder: string;
  /** The paths of the files in the tarball. */
  readonly files: readonly string[];
  /** Runs a command in the folder. Resolves to its output. Rejects when it fails. */
  run(command: string, args: readonly string[]): Promise<string>;
  /** Starts one of the programs beside this file, which has been copied there. */
  start(program: string, env: Record<string, string>, args?: readonly string[]): Program;
  write(path: string, text: string): void;
  remove(): void;
}

/** A program, and the lines that it writes. */
export interface Program {
  readonly process: ChildProcess;
  /** Resolves to the next line that matches. Rejects when the program ends before, or takes too long. */
  saying(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves to the next line of JSON that has this word as its `said`. */
  next(said: string): Promise<Record<string, unknown>>;
  /** Resolves when it has ended well; rejects with its error output. */
  readonly done: Promise<void>;
}

function watch(child: ChildProcess): Program {
  const lines: string[] = [];
  let complaints = '';
  let rest = '';
  let look = () => {};
  let hasEnded = false;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    look();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const done = new Promise<void>((resolve, reject) => {
    child.once('close', (code) => {
      hasEnded = true;
      look();
      if (code === 0) resolve();
      else reject(new Error(`The program ended with ${code}: ${complaints}`));
    });
  });
  done.catch(() => {});

  /** Waits until a line comes, the program ends, or the time is over. */
  function untilNews(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deadline - Date.now());
      look = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function saying(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      for (const [at, line] of lines.entries()) {
        const match = pattern.exec(line);
        if (match === null) continue;
        lines.splice(at, 1);
        return match;
      }
      if (hasEnded || Date.now() >= deadline) {
        throw new Error(`The program did not say ${pattern.source}, but ${lines.join(', ')}: ${complaints}`);
      }
      await untilNews(deadline);
    }
  }

  return {
    ...{ process: child, done, saying },
    async next(said) {
      const [line] = await saying(new RegExp(`^\\{"said":"${said}".*$`));
      return JSON.parse(line) as Record<string, unknown>;
    },
  };
}

/** Packs a folder. Resolves to the path of the tarball. */
async function pack(from: string, into: string): Promise<{ path: string; files: string[] }> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', into];
  const { stdout } = await run('npm', args, { cwd: from });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { path: join(into, filename), files: files.map(({ path }) => path) };
}

/**
 * Packs and installs the library, which `build-client.mjs` has built. Its dependencies come from here too, so that no
 * registry is asked.
 */
export async function installClient(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-client-'));
  const tarballs = join(folder, 'tarballs');
  mkdirSync(tarballs);
  const client = await pack(join(ROOT, 'shared/client'), tarballs);
  const others = ['eventsource-parser', 'hpke', '@scure/bip39', '@noble/hashes'].map((name) => `node_modules/${name}`);
  const paths = [client.path];
  for (const path of others) paths.push((await pack(join(ROOT, path), tarballs)).path);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', ...paths], { cwd: folder });
  for (const name of readdirSync(PROGRAMS)) cpSync(join(PROGRAMS, name), join(folder, name.replace(/\.txt$/, '')));
  const children = new Set<ChildProcess>();
  return {
    folder,
    files: client.files,
    async run(command, args) {
      const { stdout } = await run(command, args, { cwd: folder }).catch((error: unknown) => {
        const said = error as Error & { stdout?: string };
        throw new Error(`${said.message}
${said.stdout}`);
      });
      return stdout;
    },
    start(program, env, args = []) {
      const child = spawn(process.execPath, [program, ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH, ...env },
      });
      children.add(child);
      child.once('close', () => children.delete(child));
      return watch(child);
    },
    write: (path, text) => writeFileSync(join(folder, path), text),
    remove() {
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
