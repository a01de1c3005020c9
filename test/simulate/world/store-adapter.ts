import type { OnReadOpts } from 'node:net';
import { BEGINS_AT_MS, type Owner } from './clock.ts';
import { nameOfBytes } from './event-log.ts';
import { RedisLink } from './redis-link.ts';
import { commandOf, wordsOf, ValueReader } from './resp.ts';
import { drawDelayUs, Line, type Receiver, SimulatedSocket } from './socket.ts';
import type { StoreProcess } from './store-process.ts';
import type { World } from './world.ts';

/** Replies with figures of the process, such as its memory, which no seed determines. */
const UNTOLD = new Set(['HELLO', 'INFO', 'CLIENT', 'CONFIG', 'AUTH']);

/** The time between a command's arrival and its turn. */
const TURN_US = [1, 200] as const;

interface ConnectionParts {
  replica: Owner;
  onRead: OnReadOpts | null;
  number: number;
  execute: (connection: StoreConnection, command: Buffer) => Promise<void>;
  /** Makes the store forget the connection at once. */
  close: (connection: StoreConnection) => Promise<void>;
}

/** One connection of a replica. Its commands run one by one on a real connection of its own. */
class StoreConnection implements Receiver {
  readonly owner: Owner;
  readonly replica: Owner;
  readonly socket: SimulatedSocket;
  readonly toReplica: Line;
  readonly number: number;
  link: RedisLink | null = null;
  clientId = '';
  isSubscriber = false;
  isClosed = false;
  /** Whether the reply to the next command that announces something is lost, and the connection with it. */
  losesReply = false;
  /** Whether a command of its transaction was refused, so that the store runs nothing of it. */
  isAborted = false;
  readonly #world: World;
  readonly #parts: ConnectionParts;
  readonly #reader = new ValueReader();
  #latestUs = 0;

  constructor(world: World, parts: ConnectionParts) {
    this.#world = world;
    this.#parts = parts;
    this.owner = world.network;
    this.replica = parts.replica;
    this.number = parts.number;
    this.socket = new SimulatedSocket(this.replica, { onRead: parts.onRead });
    this.socket.line = new Line(world, this);
    this.toReplica = new Line(world, this.socket);
  }

  get name(): string {
    return `${this.replica.name}/${this.number}`;
  }

  arrives(chunk: Buffer): void {
    for (const command of this.#reader.take(chunk)) {
      const { clock, random } = this.#world;
      this.#latestUs = Math.max(this.#latestUs, clock.nowUs + Math.round(random.between(...TURN_US)));
      this.#world.after(this.#latestUs - clock.nowUs, this.owner, () => {
        if (!this.isClosed) this.#world.wait(() => this.#parts.execute(this, command));
      });
    }
  }

  ends(): void {
    const { clock } = this.#world;
    // It runs after the commands that came before.
    this.#world.after(this.#latestUs - clock.nowUs, this.owner, () => this.#world.wait(() => this.#parts.close(this)));
  }

  breaks(): void {
    this.ends();
  }

  async open(port: number): Promise<void> {
    this.link = await RedisLink.open(port);
    this.clientId = /\d+/.exec((await this.link.command('CLIENT', 'ID')).toString())?.[0] ?? '';
  }
}

/** The store as the replicas of one simulation reach it. */
export class StoreAdapter {
  readonly #world: World;
  readonly #process: StoreProcess;
  #connections: StoreConnection[] = [];
  #opened = 0;
  #isDown = false;
  /** How far the store's clock is ahead of the simulation's. */
  skewMs = 0;
  /** Called with each executed command, its reply and its connection, before anything else happens. */
  onCommand: (words: string[], reply: Buffer, connection: string) => Promise<void> = () => Promise.resolve();
  /** Tells whether this push, an announcement on its way to a replica, is lost. */
  losesPush: (replica: Owner) => boolean = () => false;
  /** Tells whether the store has no memory for an entry of this stream. */
  isFullFor: (key: string) => boolean = () => false;

  constructor(world: World, process: StoreProcess) {
    this.#world = world;
    this.#process = process;
  }

  /** Empties the store before a simulation. */
  async begin(): Promise<void> {
    this.#setClock();
    const { admin } = this.#process;
    await admin.command('FLUSHALL', 'SYNC');
    await admin.command('SCRIPT', 'FLUSH', 'SYNC');
  }

  connect(replica: Owner, onRead: OnReadOpts | null): SimulatedSocket {
    this.#opened += 1;
    const world = this.#world;
    const connection = new StoreConnection(world, {
      replica,
      onRead,
      number: this.#opened,
      execute: (one, command) => this.#execute(one, command),
      close: (one) => this.#close(one),
    });
    this.#connections.push(connection);
    world.after(drawDelayUs(world), world.network, () => {
      if (this.#isDown) return connection.socket.refuse();
      world.wait(async () => {
        await connection.open(this.#process.port);
        world.note('open', connection.name);
        world.after(drawDelayUs(world), replica, () => connection.socket.connected());
      });
    });
    return connection.socket;
  }

  /** Cuts connections of a replica. A part of what is on its way in either direction is lost. */
  cut(replica: Owner, isHit: (connection: { isSubscriber: boolean }) => boolean = () => true): number {
    const hit = this.#connections.filter((one) => one.replica === replica && !one.isClosed && isHit(one));
    for (const { socket, toReplica } of hit) {
      socket.line?.lose();
      toReplica.lose();
    }
    return hit.length;
  }

  /** Ends the store: connections end, a part of what is on its way is lost, and scripts are forgotten. Data stays. */
  async die(): Promise<void> {
    this.#isDown = true;
    for (const one of this.#connections) {
      one.socket.line?.lose();
      one.toReplica.lose();
      await this.#close(one);
    }
    await this.#process.admin.command('SCRIPT', 'FLUSH', 'SYNC');
    this.#world.note('store dies');
  }

  rise(): void {
    this.#isDown = false;
    this.#world.note('store rises');
  }

  /** Loses the reply to the next command that announces something, and the connection with it. */
  loseReply(replica: Owner): void {
    for (const one of this.#connections) if (one.replica === replica && !one.isSubscriber) one.losesReply = true;
  }

  /** Ends all real connections, after the simulation. */
  async end(): Promise<void> {
    for (const one of this.#connections) await this.#close(one);
  }

  /** Asks the store on a connection that no replica has. */
  ask(...words: string[]): Promise<Buffer> {
    return this.#process.admin.command(...words);
  }

  /** Harms the store, and reports it like a command. */
  async harm(...words: string[]): Promise<void> {
    await this.onCommand(words, await this.ask(...words), 'harm');
  }

  #setClock(): void {
    this.#process.setClock(Math.round((BEGINS_AT_MS + this.skewMs) * 1_000 + this.#world.clock.nowUs));
  }

  async #execute(connection: StoreConnection, command: Buffer): Promise<void> {
    const { link } = connection;
    if (link === null || connection.isClosed) return;
    this.#setClock();
    const words = wordsOf(command);
    const name = (words[0] ?? '').toUpperCase();
    const isSubscription = name.endsWith('SUBSCRIBE');
    connection.isSubscriber ||= isSubscription;
    const reply = (await this.#refusalOf(connection, link, words)) ?? (await this.#replyTo(link, words, command));
    await this.onCommand(words, reply, connection.name);
    const told = UNTOLD.has(name) ? '' : nameOfBytes(reply);
    this.#world.note('store', connection.name, describe(words), nameOfBytes(command), told);
    const announced = await this.#passPushes();
    if (!connection.losesReply || announced === 0) return connection.toReplica.send(reply);
    connection.losesReply = false;
    this.#world.note('lost reply', connection.name);
    connection.toReplica.reset();
    await this.#close(connection);
  }

  /** Replies like a store that is full: to the entry, and to the transaction that it belongs to. */
  async #refusalOf(
    connection: StoreConnection,
    link: RedisLink,
    [name = '', key = '']: string[],
  ): Promise<Buffer | null> {
    if (/^XADD$/i.test(name) && this.isFullFor(key)) {
      connection.isAborted = true;
      return Buffer.from("-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    }
    if (!connection.isAborted || !/^EXEC$/i.test(name)) return null;
    connection.isAborted = false;
    await link.command('DISCARD');
    return Buffer.from('-EXECABORT Transaction discarded because of previous errors.\r\n');
  }

  async #replyTo(link: RedisLink, words: string[], command: Buffer): Promise<Buffer> {
    const [name = '', key = '', count = ''] = words;
    if (/SUBSCRIBE$/i.test(name)) return link.subscribe(command, words.length - 1);
    if (!/^SRANDMEMBER$/i.test(name)) return link.ask(command);
    // The store hashes with a secret and draws by itself, so the draw is made here.
    const members = wordsOf(await link.command('SMEMBERS', key)).toSorted();
    return Buffer.from(commandOf(...this.#world.random.shuffled(members).slice(0, Number(count))));
  }

  /**
   * Passes on what the command announced. A later reply on the same connection shows that all of it has come. Resolves
   * to how many replicas were told.
   */
  async #passPushes(): Promise<number> {
    let announced = 0;
    const subscribers = this.#connections.filter(({ link, isSubscriber }) => link !== null && isSubscriber);
    await Promise.all(subscribers.flatMap(({ link }) => (link === null ? [] : [link.command('PING')])));
    for (const one of subscribers) {
      for (const push of one.link?.takePushes() ?? []) {
        const isLost = this.losesPush(one.replica);
        this.#world.note(isLost ? 'lost push' : 'push', one.name, nameOfBytes(push));
        announced += 1;
        if (!isLost) one.toReplica.send(push);
      }
    }
    return announced;
  }

  /** Closes a connection so that the store knows at once. */
  async #close(connection: StoreConnection): Promise<void> {
    if (connection.isClosed) return;
    connection.isClosed = true;
    this.#connections = this.#connections.filter((one) => one !== connection);
    const { link, clientId } = connection;
    if (link === null) return;
    await this.#process.admin.command('CLIENT', 'KILL', 'ID', clientId);
    link.close();
    this.#world.note('close', connection.name);
    connection.toReplica.end();
  }
}

/** Returns the name of a command in the log; for a script, its hash and first key. */
function describe(words: string[]): string {
  const [name = '', first = '', count = '', key = ''] = words;
  if (/^EVAL/i.test(name))
    return `${name.toUpperCase()} ${first.slice(0, 8).replaceAll(/\s/g, '_')} ${Number(count) > 0 ? key : ''}`;
  return [name.toUpperCase(), ...words.slice(1, 3)].join(' ').slice(0, 80).replaceAll(/\s+/g, ' ');
}
