import type { ServerResponse } from 'node:http';
import type { FileRef, Holder, RelayStore } from './store.ts';
import type { FairScheduler } from './fair-scheduler.ts';

/** Where a request reads from. */
export interface Start {
  generation: number;
  /** Its sender has to come back first. */
  rewinds: boolean;
  /** There is something to read already. */
  hasBytes: boolean;
}

export interface DownloadParts {
  res: ServerResponse;
  store: RelayStore;
  file: FileRef;
  size: number;
  /** First byte, and the one behind the last. */
  start: number;
  stop: number;
  holder: Holder;
  windowBytes: number;
  stallMs: number;
  scheduler: FairScheduler;
  notify: (channel: string, file: FileRef) => void;
  onBytes: (bytes: number) => void;
  /** Where it reads; null: the upload has not begun. Throws what keeps it from reading. */
  enter: () => Promise<Start | null>;
  /** Has the sender asked for what is missing at this offset; resolves to the generation to read. */
  rewind: (generation: number, offset: number) => Promise<number>;
  /** Tells the sender to go on in this generation, from here. */
  tellSender: (generation: number, offset: number) => void;
  /** The file is in another generation, which may have begun far behind this reader. */
  isFarBehind: (generation: number, offset: number) => Promise<boolean>;
  /** Called before the first byte is written. */
  begin: () => void;
}
