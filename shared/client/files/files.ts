import type { TransferFile } from '../wire.ts';

/** A file to be sent. Made by `blobSource`, `streamSource`, or of `@baton/client/node` by `fileSource`; or by hand. */
export interface FileSource {
  /** A relative path with `/` between folders. */
  readonly name: string;
  /** In bytes; known before anything is sent. */
  readonly size: number;
  /** Media type, or whatever the receiver is to be told. */
  readonly type?: string;
  /** In lower-case hexadecimal. Without it the source is read once more before it is offered, where it can be. */
  readonly sha256?: string;
  /** False: it can be opened once, and only at the beginning. No digest is made of it, and it cannot go back. */
  readonly replayable: boolean;
  /** Its bytes from `offset` on. Called again when the other side has to have something once more. */
  open(offset: number, signal: AbortSignal): ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;
  /**
   * Its SHA-256 in lower-case hexadecimal, where the platform has a faster way than reading `open`. `onRead` hears how many bytes
   * were read so far.
   */
  digest?(signal: AbortSignal, onRead?: (bytes: number) => void): Promise<string>;
  /** The same for its bytes. */
  pieces?(): Pieces;
}

/** A source that is cut into pieces. Two pieces are in memory at most: the one that is sent, and the next. */
export interface Pieces {
  /**
   * The bytes from `offset` on: `bytes` of them, or fewer at the end of the file. They are in force until the call after the
   * next. Throws `source_failed`.
   */
  at(offset: number, bytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /** The same for the service, as a part of a file that the platform reads by itself: in a page nothing of it is copied. */
  body?(offset: number, bytes: number): Promise<Blob>;
  /** Frees what it holds. */
  close(): void;
}

/** Where a file that is received goes. */
export interface FileSink {
  /** So many bytes of it are stored already, and the transfer goes on behind them. Default 0. Then `read` is needed. */
  readonly offset?: number;
  /** All of it is stored, and was compared: `offset` is its size, and nothing is read. */
  readonly isStored?: boolean;
  /** What is stored already, from the beginning: for the digest. */
  read?(): ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;
  /** In order. Resolve when there is room for more. */
  write(chunk: Uint8Array): void | Promise<void>;
  /**
   * The SHA-256 of everything that was written, with what was stored before, in lower-case hexadecimal: where it is made elsewhere
   * than here, such as in a worker. Then the library makes none, and `read` is not needed.
   */
  digest?(): Promise<string>;
  /** Everything has been written and is what was announced: store it safely. */
  close(): void | Promise<void>;
  /** It is not going on now: keep what can be gone on from. `isFinal`: it never will. */
  abort?(reason: unknown, isFinal: boolean): void | Promise<void>;
}

/** The transfer that a file belongs to, as it runs here. */
export interface RunningFile {
  readonly id: string;
  /** As of the running transfer. */
  readonly done: Promise<unknown>;
}

/**
 * Opens the sink of one file; asked in the order of the files, for a few of them at a time. A `WritableStream` (OPFS, the file
 * system of a page, a transform) takes the file from its beginning. Throws `taken` where another program of this device has
 * the transfer: then it is left to that one.
 */
export type OpenSink = (
  file: TransferFile,
  signal: AbortSignal,
  running?: RunningFile,
) => FileSink | WritableStream<Uint8Array> | Promise<FileSink | WritableStream<Uint8Array>>;
