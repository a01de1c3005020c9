/* What `@baton/client/node` has beside it. */
import type { Readable, Writable } from 'node:stream';
import type { Hash } from './api.ts';
import type { FileSink, FileSource, OpenSink } from './files.ts';
import type { SessionStore } from './session.ts';

/** Keeps the session in a file that its owner alone can read, for any number of processes. */
export declare function fileSession(path: string): SessionStore;
export declare function fileSource(path: string, about?: { name?: string; type?: string }): Promise<FileSource>;
/** Every file under a folder, by names that begin with the folder's own. */
export declare function folderSources(path: string): Promise<FileSource[]>;
export declare function readableSource(
  stream: Readable,
  about: { name: string; size: number; type?: string; sha256?: string },
): FileSource;
export declare function fileSink(path: string): Promise<FileSink>;
export declare function folderSink(folder: string): OpenSink;
export declare function writableSink(stream: Writable): FileSink;
export declare function sha256(): Hash;
