import {
  type MakeRecordCipher,
  makeRecords,
  openFrom,
  sealFrom,
} from '../../../shared/client/sealed/content/records.ts';
import { openSignal } from '../../../shared/client/sealed/content/signals.ts';
import type { DeviceKeys } from '../../../shared/client/sealed/keys/device-keys.ts';
import { openGrant } from '../../../shared/client/sealed/link/grant.ts';
import { concat, fromBase64url, toBase64url } from '../../../shared/client/sealed/primitives/bytes.ts';
import { sha256 } from '../../../shared/client/sealed/primitives/hkdf.ts';

/*
 * Checks what must be refused of grants, records of files, and signals. Like all checks of vectors, it runs in browsers
 * too.
 */

/** A check: `got` must be `wanted`. Both are JSON. */
export interface Check {
  readonly title: string;
  run(): Promise<{ got: unknown; wanted: unknown }>;
}

/** Pieces of a sealed file: where each begins and ends among the sealed bytes. */
interface PiecesItem {
  what: string;
  size: number;
  pieces: [start: number, end: number][];
}

/** Pieces that are refused. */
interface RefusedPieces extends PiecesItem {
  /** A sealed byte that is changed. */
  flip?: number;
  /** What the receiver takes the file for, if that is wrong. */
  as?: { size?: number; index?: number; transfer_id?: string; key?: string };
  code: string;
}

interface SignalItem {
  what: string;
  from: string;
  sealed: string;
  text: string;
}

/** The part of the vectors that these checks read. */
export interface RefusalVectors {
  refused_links: Record<
    'what' | 'request_id' | 'secret' | 'device_id' | 'service' | 'user_id' | 'sealed' | 'code',
    string
  >[];
  records: { key: string; transfer_id: string; index: number; opened: PiecesItem[]; refused: RefusedPieces[] };
  signals: SignalItem[];
  refused_signals: (Omit<SignalItem, 'text'> & { transfer_id?: string; key?: string; code: string })[];
}

const bytes = (text: string) => fromBase64url(text) ?? new Uint8Array();

/** The file of this many bytes that the vectors seal. */
const fileOf = (size: number) => Uint8Array.from({ length: size }, (_, i) => (i * 31) & 255);

/** Returns the code with which something is refused. */
export const refusal = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'taken',
    (error: unknown) => {
      const { code, message } = error as { code?: string; message: string };
      return code ?? message;
    },
  );

const grantChecks = ({ refused_links }: RefusalVectors, keysOf: (deviceId: string) => Promise<DeviceKeys>): Check[] =>
  refused_links.map(({ what, service, user_id, device_id, code, secret, ...about }) => ({
    title: `refused grant: ${what}`,
    async run() {
      const account = { service, user_id, device_id };
      const opened = openGrant(await keysOf(device_id), { ...about, account, secret: bytes(secret) });
      return { got: await refusal(opened), wanted: code };
    },
  }));

type About = Omit<RefusalVectors['records'], 'opened' | 'refused'> & {
  size: number;
  /** Default: WebCrypto. */
  recordCipher?: MakeRecordCipher | undefined;
};

const recordsOf = ({ key, transfer_id: transferId, index, size, recordCipher }: About) =>
  makeRecords(bytes(key), { transferId, index, size }, recordCipher);

/** Returns the whole file as it is sealed. */
export async function sealedFile(about: About): Promise<Uint8Array<ArrayBuffer>> {
  const [records, file] = [await recordsOf(about), fileOf(about.size)];
  const pieces: Uint8Array[] = [];
  for await (const piece of sealFrom(records, (start, wanted) => file.slice(start, start + wanted))) {
    pieces.push(piece.slice());
  }
  return concat(...pieces);
}

/** Opens pieces of a sealed file, to its end. */
async function openPieces(
  sealed: Uint8Array,
  pieces: PiecesItem['pieces'],
  about: About,
): Promise<Uint8Array<ArrayBuffer>> {
  const opening = openFrom(await recordsOf(about));
  const opened: Uint8Array[] = [];
  for (const [start, end] of pieces) opened.push(...(await opening.push(sealed.slice(start, end))));
  opening.finish();
  return concat(...opened);
}

function recordChecks(
  { records: { opened, refused, ...records } }: RefusalVectors,
  recordCipher: MakeRecordCipher | undefined,
): Check[] {
  const about = { ...records, recordCipher };
  return [
    ...opened.map(({ what, size, pieces }) => ({
      title: `opened records: ${what}`,
      async run() {
        const file = await openPieces(await sealedFile({ ...about, size }), pieces, { ...about, size });
        return { got: toBase64url(await sha256(file)), wanted: toBase64url(await sha256(fileOf(size))) };
      },
    })),
    ...refused.map(({ what, size, pieces, flip, as, code }) => ({
      title: `refused records: ${what}`,
      async run() {
        const sealed = await sealedFile({ ...about, size });
        if (flip !== undefined) sealed.set([(sealed[flip] ?? 0) ^ 1], flip);
        return { got: await refusal(openPieces(sealed, pieces, { ...about, size, ...as })), wanted: code };
      },
    })),
  ];
}

const signalChecks = ({ signals, refused_signals, records: { key, transfer_id: transferId } }: RefusalVectors) => [
  ...signals.map(({ what, from, sealed, text }) => ({
    title: `signal: ${what}`,
    run: async () => ({ got: await openSignal(bytes(key), { transferId, from }, sealed), wanted: text }),
  })),
  ...refused_signals.map(({ what, from, sealed, code, ...other }) => ({
    title: `refused signal: ${what}`,
    async run() {
      const path = { transferId: other.transfer_id ?? transferId, from };
      return { got: await refusal(openSignal(bytes(other.key ?? key), path, sealed)), wanted: code };
    },
  })),
];

/** Returns the checks of what must be refused, and of what is opened beside it. */
export const refusalChecks = (
  vectors: RefusalVectors,
  keysOf: (deviceId: string) => Promise<DeviceKeys>,
  recordCipher: MakeRecordCipher | undefined,
): Check[] => [...grantChecks(vectors, keysOf), ...recordChecks(vectors, recordCipher), ...signalChecks(vectors)];
