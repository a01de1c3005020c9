import { createHash } from 'node:crypto';
import { closeSync, writeSync } from 'node:fs';
import type { FileSink } from '../files/files.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { closeFile, digestOfHandle, syncFile, writeAt } from './disk.ts';
import type { Parts } from './parts.ts';

/** What a file holds, as it was read back from the disk. */
export interface Checked {
  readonly size: number;
  readonly sha256: string;
}

interface About {
  parts: Parts;
  key: string;
  /** What is in it already is kept, and gone on with. */
  resumes: boolean;
  /** What was announced; null where that is not known here. */
  announced: { readonly size: number; readonly sha256: string | null } | null;
  /** An archive that is unpacked and removed again. */
  isPassing?: boolean;
  /** All of it is there, and was checked: gives the file its name. */
  finish: (fd: number, checked: Checked) => Promise<void>;
  /** However it ended. `isKept`: for somebody who goes on with it. */
  onEnd?: (isKept: boolean) => void;
}

/** One that has more bytes than the file is no part of it. */
function openPart(parts: Parts, key: string, resumes: boolean, most = Number.MAX_SAFE_INTEGER) {
  const opened = parts.open(key, resumes);
  if (opened.size <= most) return opened;
  closeSync(opened.fd);
  return parts.open(key, false);
}

/**
 * A file in a part file. What goes by is written and no more: the digest that is compared is that of the file on the disk,
 * read back by the handle that wrote it, when all of it is there. (To read 1 GiB back and digest it takes 0.7 s on one core;
 * the digest alone, while the bytes come, takes 0.6 s.) Where no digest was announced, what went by is digested too.
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
      // A small one at once: the way through the thread pool takes several times as long as the parts of an archive.
      if (isPassing)
        for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at, chunk.length - at, position + at);
      else await writeAt(fd, chunk, position);
      position += chunk.length;
      checked = null;
    },
    digest: async () => (await readBack()).sha256,
    async close() {
      // An archive has no name of its own: what is unpacked is waited for instead.
      if (!isPassing) await syncFile(fd);
      await finish(fd, await check());
      await end(false);
    },
    abort: (_, isFinal) => end(!isFinal && resumes),
  };
}
