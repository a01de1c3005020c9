import type { Server } from 'node:http';
import type { Owner } from './clock.ts';
import { Line, SimulatedSocket, drawDelayUs } from './socket.ts';
import { here, type World } from './world.ts';

interface Listening {
  readonly server: Server;
  readonly owner: Owner;
}

/**
 * The bytes that a connection takes before its writer must wait. They are few, so that a slow reader is noticed soon.
 */
const SPACE_BYTES = 1_024;

/** Connections that are open from the driver to servers, by the owner of the server. */
interface Link {
  readonly owner: Owner;
  readonly server: Server;
  readonly client: SimulatedSocket;
  readonly atServer: SimulatedSocket;
}

/** The ports of a simulation, and the connections to them. */
class Ports {
  readonly listening = new Map<number, Listening>();
  links: Link[] = [];
}

const portsOf = new WeakMap<World, Ports>();

function portsIn(world: World): Ports {
  const ports = portsOf.get(world) ?? new Ports();
  portsOf.set(world, ports);
  return ports;
}

/**
 * Makes a server listen at the ports of the simulation. It gets its connections by the event `connection`, with which
 * Node accepts any stream for an HTTP server.
 */
export function openServer(server: Server): Server {
  const at = here();
  if (at === undefined) return server;
  const { world, owner } = at;
  const { listening } = portsIn(world);
  let own = 0;
  const socketsOf = (): SimulatedSocket[] =>
    portsIn(world).links.flatMap(({ server: one, atServer }) => (one === server && !atServer.closed ? [atServer] : []));
  const fakes = {
    listen({ port }: { port: number }, done: () => void) {
      own = port;
      listening.set(port, { server, owner });
      process.nextTick(done);
      return server;
    },
    address: () => ({ address: '127.0.0.1', family: 'IPv4', port: own }),
    /** Works like Node's function: calls back when the last connection is closed. */
    close(done: () => void = () => undefined) {
      listening.delete(own);
      const open = socketsOf();
      let left = open.length;
      for (const socket of open) {
        socket.once('close', () => {
          left -= 1;
          if (left === 0) done();
        });
      }
      if (left === 0) process.nextTick(done);
      return server;
    },
    // A client of a simulation keeps no connection for a second request.
    closeIdleConnections: () => undefined,
    closeAllConnections: () => socketsOf().forEach((socket) => socket.destroy()),
  };
  return Object.assign(server, fakes);
}

/**
 * Opens a connection of the driver to a port. The connection is refused if nobody listens, and waits if the server is
 * paused.
 */
export function connectToPort(world: World, port: number): SimulatedSocket {
  const ports = portsIn(world);
  const client = new SimulatedSocket(world.driver);
  world.after(drawDelayUs(world), world.driver, () => {
    const listening = ports.listening.get(port);
    if (listening === undefined || listening.owner.isKilled) return client.refuse();
    const { server, owner } = listening;
    const atServer = world.as(
      owner,
      () => new SimulatedSocket(owner, { allowHalfOpen: true, spaceBytes: SPACE_BYTES }),
    );
    atServer.connecting = false;
    client.line = new Line(world, atServer);
    atServer.line = new Line(world, client);
    ports.links = ports.links.filter((link) => !link.client.destroyed || !link.atServer.closed);
    ports.links.push({ owner, server, client, atServer });
    // A connection that breaks before it is accepted is nobody's failure.
    const ignore = (): void => undefined;
    atServer.on('error', ignore);
    world.after(drawDelayUs(world), owner, () => {
      atServer.off('error', ignore);
      if (!atServer.destroyed) server.emit('connection', atServer);
    });
    client.connected();
  });
  return client;
}

/** Keeps the clients of an owner that `isHit` chooses from reading, until the returned function is called. */
export function holdClients(world: World, owner: Owner, isHit: () => boolean): { hit: number; release: () => void } {
  const hit = portsIn(world).links.filter((link) => link.owner === owner && !link.client.destroyed && isHit());
  for (const { atServer } of hit) atServer.hold();
  return { hit: hit.length, release: () => hit.forEach(({ atServer }) => atServer.release()) };
}

/** Cuts the connections to the server of an owner that `isHit` chooses. A part of what is on its way is lost. */
export function cutClients(world: World, owner: Owner, isHit: () => boolean): number {
  const hit = portsIn(world).links.filter((link) => link.owner === owner && !link.client.destroyed && isHit());
  for (const { client, atServer } of hit) {
    client.line?.lose();
    atServer.line?.lose();
  }
  return hit.length;
}
