import { blobSource } from '../../../shared/client/files/sources.ts';
import type { FileSource } from '../../../shared/client/files/files.ts';
import type { SealedOffer } from '../../../shared/client/sealing/api.ts';
import { RECORD_BYTES } from '../../../shared/client/sealed/content/records.ts';
import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import { type Act, knownBy } from './acts.ts';
import { type End, makeEnd } from './ends.ts';
import { type Party, unlessRefused } from './party.ts';
import { type Held, NO_LIES } from './relay.ts';
import { check, type Run } from './run.ts';
import type { makeWriting } from './writing.ts';

/** A file as its sender has it. */
export interface OwnFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Files that a device has sent, and the server has. */
export interface Sent {
  readonly act: Act;
  readonly files: readonly OwnFile[];
  readonly id: string;
  readonly end: End;
}

const R = RECORD_BYTES;
const SIZES = [0, 5, R - 1, R, R + 9, 2 * R, 2 * R + 777];

/** Makes bytes of which no two records are the same. */
function bytesOf(name: string, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at += R) bytes.fill(`${name} ${at} `, at, Math.min(size, at + R));
  return bytes;
}

const sourceOf = ({ name, type, bytes }: OwnFile): FileSource =>
  blobSource(new Blob([bytes as Buffer<ArrayBuffer>], { type }), name);

/** Lets devices send files, and checks what the server gets of them. */
export function makeOffering(run: Run, { checkSealed }: Pick<ReturnType<typeof makeWriting>, 'checkSealed'>) {
  const { seed, chance, server, acts, written, guests, seen, known } = run;
  const { relay } = server;
  const sent: Sent[] = [];

  /** Makes files of which two have the same size, so that the one can be given for the other. */
  function makeFiles(): OwnFile[] {
    const own = `files ${acts.length} ${seed}`;
    const [size, other] = [chance.pick(SIZES), chance.pick(SIZES)];
    const sizes = [size, size, other].slice(0, 1 + chance.below(3));
    return sizes.map((each, index) => {
      const name = `${own}/${index}.txt`;
      return { name, type: 'text/plain', bytes: bytesOf(name, each) };
    });
  }

  function checkUploads(held: Held, files: readonly OwnFile[]): void {
    check(!held.isResealed, 'a record was sealed twice, with other bytes');
    for (const [index, { name, type, bytes }] of files.entries()) {
      const bytesThere = Buffer.from(held.uploads[index] ?? []);
      check(!held.body.includes(name.split('/')[0] ?? name) && !held.body.includes(type), 'the server reads a name');
      const isPlain = bytes.length >= 16 && bytesThere.includes(bytes.subarray(0, 16));
      check(!isPlain, 'the server reads a file');
      check(bytesThere.length === held.transfer.files?.[index]?.size, 'a file was not sent whole');
    }
  }

  /** Sends what was sealed. The server names earlier offsets, and the program may restart on the way. */
  async function upload(
    by: Party,
    sealed: SealedOffer,
    files: readonly OwnFile[],
  ): Promise<Omit<Sent, 'act' | 'files'>> {
    const sources = files.map(sourceOf);
    const [how, at, part] = [chance.pick(['', 'back', 'anew']), 1 + chance.below(2), chance.below(1_000)];
    const [gone, settings] = [new AbortController(), { offlineMs: null, concurrency: 1 }];
    relay.lies = {
      ...NO_LIES,
      onPiece(count, { uploads }, index) {
        if (how === 'anew' && count === at) gone.abort();
        return how === 'back' && count === at ? Math.floor(((uploads[index]?.length ?? 0) * part) / 1_000) : null;
      },
    };
    const first = makeEnd(by, server);
    const running = await by.sealing.files.send(first.api, sealed, sources, { ...settings, signal: gone.signal });
    const { id } = running;
    if (
      await running.uploaded.then(
        () => !gone.signal.aborted,
        () => false,
      )
    )
      return { id, end: first };
    first.close();
    by.restart();
    const end = makeEnd(by, server);
    const again = await by.sealing.files.resume(end.api, id, { key: sealed.key, files: sources }, settings);
    await again.uploaded;
    seen.resumed += 1;
    return { id, end };
  }

  /** Lets a device seal files for another one, and send them. */
  async function offer(by: Party, to: string): Promise<void> {
    const keyring = await known(by);
    if (keyring === null) return void (seen.stopped += 1);
    check(keyring.ring.body.n >= by.mustKnow, `${by.device.name} seals files below a ring that it has seen used`);
    const files = makeFiles();
    const sealed = await unlessRefused(by.sealing.files.seal(keyring, { to, files: files.map(sourceOf) }));
    if (sealed === null) return;
    const { sig } = await publicKeysOf(keyring.keys);
    const text = files[0]?.name.split('/')[0] ?? '';
    const act: Act = { from: by.id, to, text, ...knownBy(keyring), isAfterRemoval: false, sig, t: null };
    acts.push(act);
    const before = server.posted.length;
    const { id, end } = await upload(by, sealed, files);
    for (const posted of server.posted.slice(before)) {
      written.set(posted.sealed, act);
      await checkSealed(by, posted, keyring);
    }
    checkUploads(relay.held.get(id) as Held, files);
    sent.push({ act, files, id, end });
    seen.offered += 1;
    if (guests.isGuest(to)) seen.toGuests += 1;
  }

  return { offer, sent };
}
