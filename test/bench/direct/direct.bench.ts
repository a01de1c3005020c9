import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withChromium } from '../../browser/chromium.ts';
import { type MeasuredPage, openMeasuredPage } from '../../browser/measured-page.ts';
import { randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../../support/replicas.ts';
import { makeDelayedNetwork, type Network } from './delayed-network.ts';
import { ONE_CONNECTION, PAIR_DROP, THROUGH_NETWORK } from './page-scripts.ts';

/*
 * `npm run bench:direct`: sends a file between two browsers with the app, directly and through the service, and for comparison
 * by PairDrop's way of sending. The network has delay and loss. It prints MB/s and ratios, and fails only when a file does not
 * arrive. BENCH_DIRECT_MB sets the megabytes in a network without delay, BENCH_DIRECT_ROUNDS how often everything is measured.
 */

const MB = 1_000_000;
const SIZE_MB = Number(process.env.BENCH_DIRECT_MB ?? 100);
const ROUNDS = Number(process.env.BENCH_DIRECT_ROUNDS ?? 3);
const ONLY = process.env.BENCH_DIRECT_ONLY?.split(';');
const TAKES_MS = 600_000;

/** Slower networks carry smaller files: a `share` of the size. */
const NETWORKS: readonly (Network & { name: string; share: number })[] = [
  { name: 'no delay', delayMs: 0, loss: 0, share: 1 },
  { name: '20 ms', delayMs: 20, loss: 0, share: 0.4 },
  { name: '80 ms', delayMs: 80, loss: 0, share: 0.2 },
  { name: '1 % loss', delayMs: 0, loss: 0.01, share: 0.4 },
  { name: '20 ms, 1 % loss', delayMs: 20, loss: 0.01, share: 0.1 },
];

const WAYS = ['direct', 'one connection', 'PairDrop', 'relay'] as const;
type Way = (typeof WAYS)[number];

const median = (figures: number[]): number => [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? NaN;

/** Returns how many datagrams all sockets of this machine have thrown away because their buffers were full; 0 without /proc. */
function thrownAway(): number {
  try {
    const [names, figures] = readFileSync('/proc/net/snmp', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('Udp:'))
      .map((line) => line.split(' '));
    return Number(figures?.[names?.indexOf('RcvbufErrors') ?? -1]);
  } catch {
    return 0;
  }
}

withChromium.describe('files between two browsers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-direct-'));
  const state: Network = { delayMs: 0, loss: 0 };
  const network = makeDelayedNetwork(state);
  /** The addresses of the two replicas, through the network. */
  let urls: string[] = [];
  let pages: MeasuredPage[] = [];

  /** The replica must know the address at which browsers see it. */
  async function startBehindNetwork(keyPrefix: string): Promise<string> {
    let replica: ReplicaProcess | null = null;
    const port = await network.tcp(() => Number(new URL(replica?.url ?? '').port));
    const url = `http://localhost:${port}`;
    replica = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix, env: { APP_PUBLIC_URL: url } });
    return url;
  }

  beforeAll(async () => {
    const prefix = randomPrefix();
    urls = await Promise.all([startBehindNetwork(prefix), startBehindNetwork(prefix)]);
  }, 120_000);
  afterEach(async () => {
    await Promise.all(pages.map((page) => page.stop()));
    pages = [];
  });
  afterAll(async () => {
    await stopReplicas();
    network.stop();
    rmSync(folder, { recursive: true });
  });

  async function open(name: string, user: string, url: string, way: Way): Promise<MeasuredPage> {
    const page: MeasuredPage = await openMeasuredPage({
      ...{ url, user, name, direct: way !== 'relay' },
      script: way === 'relay' ? '' : `${THROUGH_NETWORK}${way === 'one connection' ? ONE_CONNECTION : ''}`,
      functions: {
        askPort(text) {
          const { id, port: wanted } = JSON.parse(text) as { id: number; port: number };
          void network.udp(wanted).then((found) => page.run(`portIs(${id}, ${found})`));
        },
      },
    });
    pages.push(page);
    return page;
  }

  /** Returns how long the app takes from the acceptance until the file is stored and compared. */
  async function sendByApp(bytes: number, [phone, desktop]: [MeasuredPage, MeasuredPage]): Promise<number> {
    const path = join(folder, `${bytes}.bin`);
    writeFileSync(path, randomBytes(bytes));
    await phone.click('.device-name', 'Desktop');
    await desktop.click('.device-name', 'Phone');
    await phone.choose('button', 'Send files', path);
    await desktop.shows('button', 'Accept');
    const startedAt = performance.now();
    await desktop.click('button', 'Accept');
    await desktop.shows('.state', 'Received', TAKES_MS);
    return performance.now() - startedAt;
  }

  async function sendByPairDrop(bytes: number, [one, two]: [MeasuredPage, MeasuredPage]): Promise<number> {
    const text = (value: unknown) => JSON.stringify(value);
    for (const page of [one, two]) await page.run(`${PAIR_DROP}; pairDrop.make()`);
    const offer = await one.run('pairDrop.describe()');
    await two.run(`pairDrop.take(${text(offer)})`);
    const answer = await two.run('pairDrop.describe()');
    await one.run(`pairDrop.take(${text(answer)})`);
    const [ofOne, ofTwo] = await Promise.all([one.run('pairDrop.gathered()'), two.run('pairDrop.gathered()')]);
    await Promise.all([one.run(`pairDrop.add(${text(ofTwo)})`), two.run(`pairDrop.add(${text(ofOne)})`)]);
    await Promise.all([one, two].map((page) => page.run('pairDrop.opened.then(() => null)')));
    await two.run(`pairDrop.receive(${bytes})`);
    const startedAt = performance.now();
    await Promise.all([one.run(`pairDrop.send(${bytes})`), two.run('pairDrop.received')]);
    return performance.now() - startedAt;
  }

  async function measure(way: Way, bytes: number): Promise<number> {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const both: [MeasuredPage, MeasuredPage] = [
      await open('Phone', user, urls[0] ?? '', way),
      await open('Desktop', user, urls[1] ?? '', way),
    ];
    const ms = way === 'PairDrop' ? await sendByPairDrop(bytes, both) : await sendByApp(bytes, both);
    return bytes / MB / (ms / 1_000);
  }

  const found = new Map<string, number[]>();
  const rounds = Array.from({ length: ROUNDS }, (_, index) => index + 1);
  const all = rounds.flatMap((round) =>
    NETWORKS.filter(({ name }) => ONLY?.includes(name) ?? true).flatMap((one) =>
      WAYS.map((way) => ({ round, one, way, title: `${one.name}: ${way}` })),
    ),
  );

  test.each(all)(
    'round $round, $title',
    async ({ one, way, title }) => {
      Object.assign(state, { delayMs: one.delayMs, loss: one.loss });
      network.count();
      const before = thrownAway();
      const rate = await measure(way, Math.round(SIZE_MB * one.share) * MB);
      const { passed, lost } = network.count();
      found.set(title, [...(found.get(title) ?? []), rate]);
      const busy = (loadavg()[0] ?? 0).toFixed(1);
      process.stdout.write(
        `${title}: ${rate.toFixed(2)} MB/s; ${passed} datagrams, ${lost} lost, ` +
          `${thrownAway() - before} thrown away by full sockets; load ${busy}\n`,
      );
      expect(rate).toBeGreaterThan(0);
    },
    TAKES_MS,
  );

  afterAll(() => {
    const lines = NETWORKS.filter(({ name }) => found.has(`${name}: direct`)).map(({ name }) => {
      const of = (way: Way) => median(found.get(`${name}: ${way}`) ?? []);
      const rates = WAYS.map((way) => of(way).toFixed(2).padStart(15));
      const ratios = WAYS.slice(1).map((way) => (of('direct') / of(way)).toFixed(2).padStart(15));
      return [name.padEnd(16), ...rates, ...ratios].join('');
    });
    const head = [
      'MB/s'.padEnd(16),
      ...[...WAYS, ...WAYS.slice(1).map((way) => `to ${way}`)].map((word) => word.padStart(15)),
    ];
    process.stdout.write(`\n${[head.join(''), ...lines].join('\n')}\n`);
  });
});
