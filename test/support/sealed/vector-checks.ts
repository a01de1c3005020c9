import { openClipboard } from '../../../shared/client/sealed/content/clipboard.ts';
import { openMessage } from '../../../shared/client/sealed/content/messages.ts';
import type { MakeRecordCipher } from '../../../shared/client/sealed/content/records.ts';
import { openSignal } from '../../../shared/client/sealed/content/signals.ts';
import { openTransfer } from '../../../shared/client/sealed/content/transfers.ts';
import type { DeviceKeys, PublicKeys } from '../../../shared/client/sealed/keys/device-keys.ts';
import { memoryKeys } from '../../../shared/client/sealed/keys/key-store.ts';
import { adoptRing, type Keyring, takeKeys } from '../../../shared/client/sealed/keyring.ts';
import { openGrant } from '../../../shared/client/sealed/link/grant.ts';
import { inviteDigits } from '../../../shared/client/sealed/link/invite.ts';
import { linkKeyText } from '../../../shared/client/sealed/link/link-code.ts';
import { fromBase64url, toBase64url } from '../../../shared/client/sealed/primitives/bytes.ts';
import { sha256 } from '../../../shared/client/sealed/primitives/hkdf.ts';
import { suite } from '../../../shared/client/sealed/primitives/hpke.ts';
import type { TextCrypto } from '../../../shared/client/sealed/primitives/text-crypto.ts';
import { walkChain } from '../../../shared/client/sealed/ring/chain.ts';
import { hashOf } from '../../../shared/client/sealed/ring/ring.ts';
import { type Check, refusal, refusalChecks, type RefusalVectors, sealedFile } from './vector-refusals.ts';

/*
 * Checks what every implementation has to open and what it has to refuse. The same checks run in Node, Chromium, Firefox and
 * WebKit, so this file uses nothing that one of them lacks.
 */

interface Item {
  what: string;
  from: string;
  to: string;
  by: string;
  sealed: string;
  text: string;
  /** How often `text` is repeated; undefined: once. */
  times?: number;
  code: string;
  isRemoved?: boolean;
}

/** `shared/client/vectors/sealed.json`. */
export interface Vectors extends RefusalVectors {
  account: { service: string; user_id: string };
  now: number;
  devices: Record<string, { enc: string; sig: string; public: PublicKeys }>;
  rings: string[];
  hashes: string[];
  refused_rings: { what: string; after: number; text: string; code: string }[];
  guests: string;
  messages: Item[];
  refused_messages: Item[];
  clipboards: Item[];
  refused_clipboards: Item[];
  link: Record<'request_id' | 'secret' | 'device_id' | 'key' | 'sealed' | 'check_code' | 'invite_digits', string>;
  transfer: { from: string; by: string; sealed: string; key: string; files: unknown[] };
  records: RefusalVectors['records'] & {
    files: { size: number; sealed_size: number; sha256: string; first: string }[];
  };
  signal: { from: string; sealed: string; text: string };
}

/** `shared/client/vectors/rfc9180.json`. */
export interface Rfc9180 {
  vectors: (Record<'info' | 'ikmR' | 'pkRm' | 'enc' | 'psk' | 'psk_id', string> & {
    mode: 0 | 1;
    encryptions: { aad: string; pt: string; ct: string }[];
    exports: { exporter_context: string; L: number; exported_value: string }[];
  })[];
}

const bytes = (text: string) => fromBase64url(text) ?? new Uint8Array();
const hex = (given: Uint8Array): string => Array.from(given, (byte) => byte.toString(16).padStart(2, '0')).join('');
const unhex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (two) => Number.parseInt(two, 16));
const textIn = ({ text, times = 1 }: Item): string => text.repeat(times);

async function pair(name: 'ECDH' | 'ECDSA', kept: string, shown: string): Promise<CryptoKeyPair> {
  const curve = { name, namedCurve: 'P-256' };
  const isEcdh = name === 'ECDH';
  return {
    privateKey: await crypto.subtle.importKey('pkcs8', bytes(kept), curve, false, isEcdh ? ['deriveBits'] : ['sign']),
    publicKey: await crypto.subtle.importKey('raw', bytes(shown), curve, true, isEcdh ? [] : ['verify']),
  };
}

async function keysOf({ devices }: Vectors, id: string): Promise<DeviceKeys> {
  const kept = devices[id];
  if (kept === undefined) throw new Error(`no device ${id}`);
  return { enc: await pair('ECDH', kept.enc, kept.public.enc), sig: await pair('ECDSA', kept.sig, kept.public.sig) };
}

/** Returns what a device knows that was on the first ring and has walked to the last. */
async function keyringOf(vectors: Vectors, id: string, textCrypto?: TextCrypto): Promise<Keyring> {
  const { account, hashes, rings, guests, now } = vectors;
  const store = { ...memoryKeys(), textCrypto };
  await store.save({ keys: await keysOf(vectors, id), account: null, rings: [], seen: 0 });
  const begin = { account: { ...account, device_id: id }, n: 1, hash: hashes[0] as string };
  await adoptRing(store, begin, rings, now);
  return (await takeKeys(store, { rings, n: rings.length, guests }, now)).keyring;
}

/** The modes of HPKE that are used, with keys as a browser stores them. */
const rfcChecks = ({ vectors }: Rfc9180): Check[] =>
  vectors.map((vector) => ({
    title: `RFC 9180, mode ${vector.mode}`,
    async run() {
      const keys = structuredClone(await suite.DeriveKeyPair(unhex(vector.ikmR), false));
      const psk = vector.mode === 1 ? { psk: unhex(vector.psk), pskId: unhex(vector.psk_id) } : {};
      const context = await suite.SetupRecipient(keys, unhex(vector.enc), { info: unhex(vector.info), ...psk });
      const opened: string[] = [];
      for (const { aad, ct } of vector.encryptions) opened.push(hex(await context.Open(unhex(ct), unhex(aad))));
      const exported: string[] = [];
      for (const one of vector.exports) exported.push(hex(await context.Export(unhex(one.exporter_context), one.L)));
      return {
        got: [keys.privateKey.extractable, hex(await suite.SerializePublicKey(keys.publicKey)), opened, exported],
        wanted: [
          ...[false, vector.pkRm, vector.encryptions.map(({ pt }) => pt)],
          vector.exports.map(({ exported_value }) => exported_value),
        ],
      };
    },
  }));

function ringChecks({ account, rings, hashes, refused_rings }: Vectors): Check[] {
  const refused = refused_rings.map(({ what, after, text, code }) => ({
    title: `refused ring: ${what}`,
    async run() {
      const known = await walkChain([], rings.slice(0, after), account);
      return { got: await refusal(walkChain(known, [text], account)), wanted: code };
    },
  }));
  const chain: Check = {
    title: 'the chain of rings',
    async run() {
      const walked = await walkChain([], rings, account);
      return { got: [walked.map(hashOf), walked.map(({ body }) => body.epoch)], wanted: [hashes, [1, 1, 1, 2]] };
    },
  };
  return [chain, ...refused];
}

function contentChecks(vectors: Vectors, keyring: (id: string) => Promise<Keyring>): Check[] {
  const { messages, refused_messages, clipboards, refused_clipboards, now } = vectors;
  return [
    ...messages.map((item) => ({
      title: `message: ${item.what}`,
      async run() {
        const { text, sender } = await openMessage(await keyring(item.by), item);
        const got = [text, sender.device_id, sender.isRemoved];
        return { got, wanted: [textIn(item), item.from, item.isRemoved ?? false] };
      },
    })),
    ...refused_messages.map((item) => ({
      title: `refused message: ${item.what}`,
      run: async () => ({ got: await refusal(openMessage(await keyring(item.by), item)), wanted: item.code }),
    })),
    ...clipboards.map((item) => ({
      title: `clipboard: ${item.what}`,
      run: async () => ({
        got: (await openClipboard(await keyring(item.by), { ...item, now })).text,
        wanted: textIn(item),
      }),
    })),
    ...refused_clipboards.map((item) => ({
      title: `refused clipboard: ${item.what}`,
      run: async () => ({
        got: await refusal(openClipboard(await keyring(item.by), { ...item, now })),
        wanted: item.code,
      }),
    })),
  ];
}

function fileChecks(
  vectors: Vectors,
  keyring: (id: string) => Promise<Keyring>,
  recordCipher: MakeRecordCipher | undefined,
): Check[] {
  const { transfer, records, signal } = vectors;
  const { key, transfer_id: transferId, index } = records;
  const offer: Check = {
    title: 'a transfer, and a signal of it',
    async run() {
      const opened = await openTransfer(await keyring(transfer.by), transfer);
      const text = await openSignal(bytes(key), { transferId, from: signal.from }, signal.sealed);
      return {
        got: [opened.files, toBase64url(opened.key), text],
        wanted: [transfer.files, transfer.key, signal.text],
      };
    },
  };
  const files = records.files.map(({ size, sealed_size, sha256: digest, first }) => ({
    title: `records of ${size} bytes`,
    async run() {
      const whole = await sealedFile({ key, transfer_id: transferId, index, size, recordCipher });
      const got = [whole.length, toBase64url(whole.slice(0, 28)), toBase64url(await sha256(whole))];
      return { got, wanted: [sealed_size, first, digest] };
    },
  }));
  return [offer, ...files];
}

const linkCheck = (vectors: Vectors): Check => ({
  title: 'a code, its grant and its digits',
  async run() {
    const { account, devices, hashes, rings, link } = vectors;
    const { request_id, secret, device_id, sealed } = link;
    const shown = devices[device_id]?.public as PublicKeys;
    const asked = { sealed, request_id, account: { ...account, device_id }, secret: bytes(secret) };
    const { n, hash, approver, checkCode } = await openGrant(await keysOf(vectors, device_id), asked);
    const digits = await inviteDigits(bytes(secret), shown, request_id);
    return {
      got: [await linkKeyText(shown, bytes(secret)), digits, n, hash, approver, checkCode],
      wanted: [link.key, link.invite_digits, rings.length, hashes.at(-1), 'device-a', link.check_code],
    };
  },
});

/** The cryptography that a platform uses instead of WebCrypto. */
interface OwnCrypto {
  readonly textCrypto?: TextCrypto;
  readonly recordCipher?: MakeRecordCipher;
}

/** Returns all checks. Their titles are all different. */
export function vectorChecks(vectors: Vectors, rfc: Rfc9180, { textCrypto, recordCipher }: OwnCrypto = {}): Check[] {
  const known = new Map<string, Promise<Keyring>>();
  const keyring = (id: string): Promise<Keyring> => {
    const made = known.get(id) ?? keyringOf(vectors, id, textCrypto);
    known.set(id, made);
    return made;
  };
  return [
    ...rfcChecks(rfc),
    ...ringChecks(vectors),
    ...contentChecks(vectors, keyring),
    linkCheck(vectors),
    ...fileChecks(vectors, keyring, recordCipher),
    ...refusalChecks(vectors, (id) => keysOf(vectors, id), recordCipher),
  ];
}
