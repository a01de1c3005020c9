import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';
import { commandOf, ValueReader } from './resp.ts';

/** The real function, taken before it is replaced: these connections are real. */
const connect = createConnection;

/** `>` begins what the store sends unasked. */
const PUSH = '>'.charCodeAt(0);

/** A real connection to the real store. One command is under way at a time. */
export class RedisLink {
  readonly #socket: Socket;
  readonly #reader = new ValueReader();
  readonly #replies: Buffer[] = [];
  #pushes: Buffer[] = [];
  #wake: () => void = () => undefined;
  #failure: Error | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      for (const value of this.#reader.take(chunk)) (value[0] === PUSH ? this.#pushes : this.#replies).push(value);
      this.#wake();
    });
    const fail = () => {
      this.#failure = new Error('the store closed a connection');
      this.#wake();
    };
    socket.on('error', fail).on('close', fail);
  }

  static async open(port: number): Promise<RedisLink> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RedisLink(socket);
  }

  /**
   * Sends a command and resolves to its reply. A subscription has one reply for each channel, and all of them are
   * pushes.
   */
  async ask(command: string | Buffer): Promise<Buffer> {
    this.#socket.write(command);
    await this.#until(() => this.#replies.length > 0);
    return this.#replies.shift() as Buffer;
  }

  async subscribe(command: Buffer, channels: number): Promise<Buffer> {
    this.#socket.write(command);
    await this.#until(() => this.#pushes.length >= channels);
    return Buffer.concat(this.takePushes());
  }

  command(...words: string[]): Promise<Buffer> {
    return this.ask(commandOf(...words));
  }

  /** Returns what the store sent unasked since the last call. */
  takePushes(): Buffer[] {
    const taken = this.#pushes;
    this.#pushes = [];
    return taken;
  }

  close(): void {
    this.#socket.removeAllListeners('close').on('error', () => undefined);
    this.#socket.destroy();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
