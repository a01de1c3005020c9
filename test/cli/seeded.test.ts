import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type CliSite, type Run, startCliSite, type Terminal } from './terminal.ts';

/*
 * Real programs run against real replicas, under a schedule that a seed makes: the sender and receivers are killed, a second
 * receiver takes part, the disk fills up, names are odd. In the end every file is there whole and once, or was named as failed.
 * A program that lives names it at once, and a killed one at its next start.
 */

const { APP_TEST_SEEDED_RUNS: runs, APP_TEST_SEEDED_SEED: seed, APP_TEST_SEEDED_PATH: path } = process.env;
const RUNS = Number(runs || 20);
const WITHIN_MS = 90_000;
/** Room for the space that `receive` wants to be free, and for the files. */
const DISK_MIB = 40;

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
let canMount = false;
let disk: string;

beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
  disk = join(phone.folder, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'baton-test', disk], { stdio: 'ignore' });
    canMount = true;
  } catch {
    process.stdout.write('No file system may be mounted here: no disk is filled.\n');
  }
});
afterAll(async () => {
  if (canMount) execFileSync('umount', ['-l', disk]);
  await cli.stop();
});

const ODD = ['plain.txt', 'ünï cödé 日本.bin', '.bash_profile', '-rf', 'con.txt', 'ends. ', `${'n'.repeat(240)}.txt`];
const CASES = ['Same.txt', 'same.txt', '.baton-parts', 'a.part', "quo'te.gz", '🎼.tar'];

const fileName = fc.constantFrom(...ODD, ...CASES);
const size = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 70_000 }),
  fc.integer({ min: 500_000, max: 4_000_000 }),
);
const fault = fc.record({
  kind: fc.constantFrom('kill-sender', 'kill-receiver', 'stop-receiver', 'second', 'fill'),
  afterMs: fc.integer({ min: 0, max: 900 }),
});
const schedule = fc.record({
  files: fc.uniqueArray(fc.record({ name: fileName, size }), {
    minLength: 1,
    maxLength: 3,
    selector: (file) => file.name,
  }),
  packed: fc.constantFrom(0, 0, 80),
  faults: fc.array(fault, { minLength: 1, maxLength: 4 }),
  again: fc.constantFrom('same', 'continue'),
});
type Schedule = typeof schedule extends fc.Arbitrary<infer T> ? T : never;

/** No two files have the same bytes, so each is recognised by its own. */
function bytesOf(length: number, salt: string): Buffer {
  const start = Buffer.from(`${salt}\n`);
  const block = createHash('sha256').update(salt).digest();
  return Buffer.concat([start, Buffer.alloc(length, block)]);
}
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Writes the files that are sent. Returns their digests by name. */
function prepare({ files, packed }: Schedule, top: string): Map<string, string> {
  const sent = new Map<string, string>();
  const put = (name: string, length: number) => {
    const bytes = bytesOf(length, `${top}/${name}`);
    writeFileSync(join(top, name), bytes);
    sent.set(name, digest(bytes));
  };
  mkdirSync(top, { recursive: true });
  for (const { name, size: length } of files) put(name, length);
  for (let index = 0; index < packed; index += 1) put(`small ${index}`, index * 7);
  return sent;
}

/** Returns the digests of the finished files in the folder. */
function found(folder: string): string[] {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('.baton-parts') && entry.name !== 'filler')
    .map(({ parentPath, name }) => digest(readFileSync(join(parentPath, name))));
}

function fill(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize, 1));
  } catch {
    // Another program has taken the rest.
  }
}

async function within<T>(what: string, promise: Promise<T>, story: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end\n${story()}`)), WITHIN_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** This is a time of the schedule, not a wait for something. */
const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Returns the arguments of a program, how it ended, and its output. */
function told({ child, stdout, stderr }: Run): string {
  const end = child.signalCode ?? child.exitCode ?? 'it still runs';
  return `baton ${child.spawnargs.slice(2).join(' ')} (process ${child.pid}, end: ${end})\n${stdout()}${stderr()}`;
}

/** Returns what is kept for the next start. */
const keptIn = (folder: string): string => (existsSync(folder) ? readdirSync(folder).join(' ') : '') || 'nothing';

let count = 0;

async function play(plan: Schedule): Promise<void> {
  count += 1;
  const name = `run-${count}`;
  const sent = prepare(plan, join(laptop.folder, name));
  const isOnDisk = canMount && plan.faults.some(({ kind }) => kind === 'fill');
  const into = isOnDisk ? join(disk, name) : join(phone.folder, name);
  const all: Run[] = [];
  const keep = (run: Run): Run => {
    all.push(run);
    return run;
  };
  const kept = () =>
    `sends: ${keptIn(join(laptop.config, 'sends'))}\nreceives: ${keptIn(join(phone.config, 'receives'))}`;
  const story = () => [...all.map(told), kept()].join('\n---\n');
  const receive = () => keep(phone.run(['receive', '--dir', into, '--yes', '--json']));
  const send = () => keep(laptop.run(['send', name, '--to', 'Phone', '--json']));
  /** A sender that was killed before it had begun left nothing to go on with. */
  const hasBegun = () => {
    const sends = join(laptop.config, 'sends');
    return existsSync(sends) && readdirSync(sends).some((file) => /\.(json|begun)$/.test(file));
  };
  const goOn = () =>
    plan.again === 'continue' && hasBegun() ? keep(laptop.run(['send', '--continue', '--json'])) : send();
  /** Makes space again, because a receiver waits for that. */
  const empty = () => rmSync(join(isOnDisk ? disk : into, 'filler'), { force: true });
  const isOver = (run: Run) => run.child.exitCode !== null || run.child.signalCode !== null;

  let receivers = [receive()];
  let sender = send();
  try {
    for (const { kind, afterMs } of plan.faults) {
      await after(afterMs);
      if (kind === 'kill-sender' && !isOver(sender)) {
        sender.child.kill('SIGKILL');
        await sender.status;
        // Files that were reported as sent are not sent again.
        if (!/"state":"DONE"/.test(sender.stdout())) sender = goOn();
      } else if (kind === 'kill-receiver' || kind === 'stop-receiver') {
        const [first] = receivers;
        first?.child.kill(kind === 'kill-receiver' ? 'SIGKILL' : 'SIGINT');
        if (first) await within('a receiver', first.status, story);
        receivers = [...receivers.slice(1), receive()];
      } else if (kind === 'second') receivers.push(receive());
      else if (kind === 'fill' && isOnDisk) fill(disk);
    }
    empty();
    await within('the sender', sender.status, story);
    // This message comes last, so everything before it has been reported.
    const last = keep(laptop.run(['message', 'Phone', 'over', '--json']));
    await within('a message', last.status, story);
    for (const run of receivers) run.child.kill('SIGINT');
    for (const run of receivers) await within('a receiver', run.status, story);
    // The next start names what a killed program had not named.
    const next = receive();
    await within('the next start', settled(next), story);
    const nextSend = keep(laptop.run(['send', '--continue', '--json']));
    await within('the next send', nextSend.status, story);
    check(sent, { into, top: name, programs: all }, story());
  } finally {
    for (const run of all) if (!isOver(run)) run.child.kill('SIGKILL');
    await Promise.all(all.map((run) => run.status));
    if (isOnDisk) execFileSync('sh', ['-c', `rm -rf '${disk}'/* '${disk}'/.baton-parts`]);
  }
}

/** Tells whether there are records of transfers that were not received to their end. */
function hasLeft(folder: string): boolean {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
  return names.some((name) => {
    try {
      return !readFileSync(join(folder, name), 'utf8').includes('"received":');
    } catch {
      // It was removed meanwhile.
      return false;
    }
  });
}

/** Ends a receiver by Ctrl-C, once it has looked at what was left and has nothing to take. */
async function settled(run: Run): Promise<void> {
  while (hasLeft(join(phone.config, 'receives'))) await after(50);
  run.child.kill('SIGINT');
  await run.status;
}

/** Returns every name in the lists of what failed. A sentence that shortens to `and 4 more` names no file. */
function failedNames(programs: readonly Run[]): Set<string> {
  const lines = programs.flatMap((run) => `${run.stdout()}\n${run.stderr()}`.split('\n'));
  const results = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const lists = results.flatMap((result) => [result['not_sent'], result['not_received']]);
  return new Set(lists.flatMap((list) => (Array.isArray(list) ? (list as string[]) : [])));
}

/** Tells whether a file is named: by its own name, by that of the sent folder, or for a small file by that of its archive. */
function isNamed(failed: ReadonlySet<string>, top: string, name: string): boolean {
  if (failed.has(`${top}/${name}`) || failed.has(top)) return true;
  return [...failed].some((one) => one.startsWith(top) && /^(?:\.\d+)?\.tar$/.test(one.slice(top.length)));
}

interface Ended {
  into: string;
  top: string;
  programs: readonly Run[];
}

function check(sent: ReadonlyMap<string, string>, { into, top, programs }: Ended, said: string): void {
  const stored = found(into);
  const wanted = new Set(sent.values());
  const failed = failedNames(programs);
  const isSaidSent = programs.some((run) => /"state":"DONE"/.test(run.stdout()));
  for (const one of stored) if (!wanted.has(one)) throw new Error(`a file in ${into} is none that was sent\n${said}`);
  for (const [name, sha256] of sent) {
    const times = stored.filter((one) => one === sha256).length;
    if (times > 1) throw new Error(`${name} is there ${times} times\n${said}`);
    if (times === 0 && !isNamed(failed, top, name))
      throw new Error(`${name} is neither there nor named as failed\n${said}`);
    if (times === 0 && isSaidSent) throw new Error(`${name} is not there, and all was said to be sent\n${said}`);
  }
  if (existsSync(join(into, '.baton-parts')))
    throw new Error(`parts were left: ${readdirSync(join(into, '.baton-parts')).join(' ')}\n${said}`);
}

test(
  `every file of ${RUNS} schedules of kills, full disks, second receivers and odd names is whole once, or named as failed`,
  async () => {
    const chosen = seed ? Number(seed) : Date.now() % 2 ** 31;
    process.stdout.write(`Again with: npm run test:cli:seeded -- --runs ${RUNS} --seed ${chosen}\n`);
    const details = await fc.check(fc.asyncProperty(schedule, play), {
      ...{ numRuns: RUNS, seed: chosen, endOnFailure: true },
      ...(path && { path }),
    });
    // The error has the invariant that broke and what every program said, and then the schedule.
    const why = details.errorInstance instanceof Error ? details.errorInstance.message : String(details.errorInstance);
    if (details.failed) throw new Error(`${why}\n\n${fc.defaultReportMessage(details)}`);
    expect(details.failed).toBe(false);
  },
  RUNS * 60_000,
);
