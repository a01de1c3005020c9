import { createHash } from 'node:crypto';
import { closeSync, writeSync } from 'node:fs';
import type { FileSink } from '../files/files.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { closeFile, digestOfHandle, syncFile, writeAt } from './disk.ts';
import type { Parts } from './parts.ts';

/** The size and digest of a file, as read back from the disk. */
export interface Checked {
  readonly size: number;
  readonly sha256: string;
}

interface About {
  parts: Parts;
  key: string;
  /** True: the existing part file is kept and resumed. */
  resumes: boolean;
  /** The announced size and digest; null if they are unknown. */
  announced: { readonly size: number; readonly sha256: string | null } | null;
  /** True: an archive that is unpacked and then removed. */
  isPassing?: boolean;
  /** Called when the file is complete and checked: gives the file its name. */
  finish: (fd: number, checked: Checked) => Promise<void>;
  /** Called at the end in any case. `isKept`: the part file stays for a later attempt. */
  onEnd?: (isKept: boolean) => void;
}

/** Opens a part file. One with more bytes than the file is not a part of it, and is begun again. */
function openPart(parts: Parts, key: string, resumes: boolean, most = Number.MAX_SAFE_INTEGER) {
  const opened = parts.open(key, resumes);
  if (opened.size <= most) return opened;
  closeSync(opened.fd);
  return parts.open(key, false);
}

/**
 * Writes a file into a part file. Chunks are only written: the compared digest is that of the complete file on the disk,
 * read back through the handle that wrote it. (To read 1 GiB back and digest it takes 0.7 s on one core; the digest alone,
 * while the bytes come, takes 0.6 s.) If no digest was announced, the chunks are digested too.
 */
export function makePartSink({ parts, key, resumes, announced, isPassing = false, finish, onEnd }: About): FileSink {
  const { fd, size } = openPart(parts, key, resumes, announced?.size);
  let position = size;
  const passing = announced?.sha256 === null && position === 0 ? createHash('sha256') : null;
  let checked: Promise<Checked> | null = null;
  let isOpen = true;

  const readBack = () => (checked ??= digestOfHandle(fd));

  async function check(): Promise<Checked> {
    const found = await readBack();
    const wanted = announced?.sha256 ?? passing?.digest('hex') ?? found.sha256;
    if (found.size === (announced?.size ?? position) && found.sha256 === wanted) return found;
    throw new BatonClientError('digest_mismatch', 'What is on the disk is not what was sent');
  }

  async function end(isKept: boolean): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await closeFile(fd);
    if (!isKept) parts.drop(key);
    onEnd?.(isKept);
  }

  return {
    offset: position,
    async write(chunk) {
      passing?.update(chunk);
      // The parts of an archive are written synchronously: the thread pool takes several times as long for small writes.
      if (isPassing)
        for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at, chunk.length - at, position + at);
      else await writeAt(fd, chunk, position);
      position += chunk.length;
      checked = null;
    },
    digest: async () => (await readBack()).sha256,
    async close() {
      // An archive gets no name: its unpacked files are synced instead.
      if (!isPassing) await syncFile(fd);
      await finish(fd, await check());
      await end(false);
    },
    abort: (_, isFinal) => end(!isFinal && resumes),
  };
}
