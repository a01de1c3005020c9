import type { TransferFile } from '../wire.ts';

/** A file to send. `blobSource`, `streamSource`, or `fileSource` of `@baton/client/node` makes one, or the application. */
export interface FileSource {
  /** A relative path with `/` between folders. */
  readonly name: string;
  /** The size in bytes; known before anything is sent. */
  readonly size: number;
  /** The media type, or any other text for the receiver. */
  readonly type?: string;
  /** The digest in lower-case hexadecimal. Without it a replayable source is read once more before it is offered. */
  readonly sha256?: string;
  /** When the file was last changed: whole Unix milliseconds. The receiver stores it with this date if it can. */
  readonly modifiedAt?: number | undefined;
  /** False: the source can be opened once, and only at the beginning. It gets no digest, and it cannot go back. */
  readonly replayable: boolean;
  /** Opens its bytes from `offset` on. Called again when the other side needs some of them once more. */
  open(offset: number, signal: AbortSignal): ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;
  /**
   * Returns its SHA-256 in lower-case hexadecimal, if the platform has a faster way than reading `open`. `onRead` is
   * called with the number of bytes read so far.
   */
  digest?(signal: AbortSignal, onRead?: (bytes: number) => void): Promise<string>;
  /** Returns its bytes in pieces, if the platform has a faster way than `open`. */
  pieces?(): Pieces;
  /** Returns the pieces of what `@baton/client/sealing` makes of it, if the platform seals them, such as in a worker. */
  sealedPieces?(parts: SealedFileParts): Pieces;
}

/** The sealed bytes of a file depend on these and on the file. */
export interface SealedFileParts {
  /** The number of sealed bytes. */
  readonly size: number;
  readonly index: number;
  /** The key of the transfer: 32 bytes. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** The id of the transfer, which the service gives before anything is read. */
  readonly transferId: Promise<string>;
}

/** A source that is cut into pieces. At most two pieces are in memory: the one that is sent, and the next. */
export interface Pieces {
  /**
   * Returns the bytes from `offset` on: `bytes` of them, or fewer at the end of the file. They are valid until the call
   * after the next. Throws `source_failed`.
   */
  at(offset: number, bytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns the same for the service, as a part of a file that the platform reads itself: a page copies nothing of it. */
  body?(offset: number, bytes: number): Promise<Blob>;
  /** Frees what it holds. */
  close(): void;
}

/** The destination of a received file. */
export interface FileSink {
  /** How many bytes are stored already; the transfer continues after them. Default 0. Any other offset needs `read`. */
  readonly offset?: number;
  /** The whole file is stored and compared: `offset` is its size, and nothing is read. */
  readonly isStored?: boolean;
  /**
   * How many bytes, from the beginning, a later attempt need not get again, if the sink holds some of them in memory.
   * Default: all that were written.
   */
  kept?(): number;
  /** Returns the stored bytes from the beginning, for the digest. */
  read?(): ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;
  /** Takes chunks in order. Resolves when it can take more. */
  write(chunk: Uint8Array): void | Promise<void>;
  /**
   * Returns the SHA-256 of everything that was written and of what was stored before, in lower-case hexadecimal, if the
   * sink makes it itself, such as in a worker. Then the library makes none, and `read` is not needed.
   */
  digest?(): Promise<string>;
  /** Stores the file safely: everything is written and is what was announced. */
  close(): void | Promise<void>;
  /** Stops, and keeps what a later attempt can resume from. `isFinal`: there will be no later attempt. */
  abort?(reason: unknown, isFinal: boolean): void | Promise<void>;
}

/** The transfer that a file belongs to, as it runs here. */
export interface RunningFile {
  readonly id: string;
  /** Settles as `done` of the running transfer does. */
  readonly done: Promise<unknown>;
}

/**
 * Opens the sink of one file. Called in the order of the files, for a few of them at a time. A `WritableStream` (OPFS, the
 * file system of a page, a transform) takes the file from its beginning. Throws `taken` if another program of this device
 * has the transfer: then the library leaves it to that program.
 */
export type OpenSink = (
  file: TransferFile,
  signal: AbortSignal,
  running?: RunningFile,
) => FileSink | WritableStream<Uint8Array> | Promise<FileSink | WritableStream<Uint8Array>>;
