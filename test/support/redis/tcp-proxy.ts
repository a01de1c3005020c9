import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP proxy in front of Redis that a test tells when to fail. */
export interface TcpProxy {
  /** The Redis URL to give to a replica. */
  readonly url: string;
  /**
   * The next request that holds `marker` reaches Redis, but its answer does not come back: both ends are cut as soon
   * as Redis has answered. Resolves when that has happened.
   */
  cutBeforeAnswerTo(marker: string): Promise<void>;
  /**
   * From now on nothing passes any more, in either direction, on connections that have ever sent `marker` (case does
   * not matter); they stay open. Later ones are not concerned.
   */
  silence(marker: string): void;
  /** From now on no answer passes on the connections that there are: what is asked on them still arrives, and is done. */
  swallowAnswers(): void;
  /** Ends the connections that have ever sent `marker`. */
  cut(marker: string): void;
  /** From the next request that holds `marker` on no answer of Redis arrives, until `release`. `asked`: it came. */
  hold(marker: string): { asked: Promise<void>; release: () => void };
  stop(): Promise<void>;
}

/** `rewrite` changes what Redis says. */
export async function startTcpProxy(
  targetUrl: string,
  { rewrite = (bytes: Buffer): Buffer => bytes } = {},
): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let trap: { marker: string; sprung: () => void } | null = null;
  const links = new Set<{ sent: string; isSilent: boolean; dropsAnswers: boolean; cut: () => void }>();
  let held: { marker: string; asked: (() => void) | null; answers: (() => void)[] } | null = null;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let armed: (() => void) | null = null;
    const link = { sent: '', isSilent: false, dropsAnswers: false, cut: () => void client.destroy() };
    links.add(link);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        links.delete(link);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (trap && bytes.includes(trap.marker)) {
        armed = trap.sprung;
        trap = null;
      }
      if (held?.asked && bytes.includes(held.marker)) {
        held.asked();
        held.asked = null;
      }
      // What a connection is for shows in its first words.
      if (link.sent.length < 4_096) link.sent += bytes.toString('latin1').toLowerCase();
      if (!link.isSilent) upstream.write(bytes);
    });
    upstream.on('data', (said) => {
      if (link.isSilent || link.dropsAnswers) return;
      const bytes = rewrite(said);
      if (held?.asked === null) return void held.answers.push(() => client.write(bytes));
      if (!armed) return client.write(bytes);
      client.destroy();
      armed();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');

  return {
    url: `redis://127.0.0.1:${address.port}`,
    cutBeforeAnswerTo: (marker) =>
      new Promise((sprung) => {
        trap = { marker, sprung };
      }),
    silence(marker) {
      for (const link of links) link.isSilent ||= link.sent.includes(marker.toLowerCase());
    },
    swallowAnswers() {
      for (const link of links) link.dropsAnswers = true;
    },
    cut(marker) {
      for (const link of links) if (link.sent.includes(marker.toLowerCase())) link.cut();
    },
    hold(marker) {
      const answers: (() => void)[] = [];
      const asked = new Promise<void>((resolve) => {
        held = { marker, asked: resolve, answers };
      });
      const release = () => {
        held = null;
        for (const answer of answers) answer();
      };
      return { asked, release };
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
