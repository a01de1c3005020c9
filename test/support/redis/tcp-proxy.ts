import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP proxy in front of Redis that a test tells when to fail. */
export interface TcpProxy {
  /** The Redis URL to give to a replica. */
  readonly url: string;
  /**
   * Lets the next request that contains `marker` reach Redis, and swallows its reply: both ends are cut as soon as
   * Redis has answered. Resolves when that has happened.
   */
  cutBeforeAnswerTo(marker: string): Promise<void>;
  /**
   * Stops all bytes, in both directions, on connections that have ever sent `marker` (in any case). The connections stay
   * open. Later connections are not affected.
   */
  silence(marker: string): void;
  /** Stops all replies on the existing connections from now on. Requests on them still arrive and are carried out. */
  swallowAnswers(): void;
  /** Ends the connections that have ever sent `marker`. */
  cut(marker: string): void;
  /** Holds all replies of Redis back from the next request with `marker` on, until `release`. `asked`: that request came. */
  hold(marker: string): { asked: Promise<void>; release: () => void };
  stop(): Promise<void>;
}

/** Starts the proxy. `rewrite` changes what Redis sends. */
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
      // The first words of a connection show its purpose.
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
