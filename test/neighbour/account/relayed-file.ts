import { createHash, randomBytes } from 'node:crypto';
import type { Ask } from '../load/http.ts';

const FILE = randomBytes(2 * 1024 * 1024);
const DIGEST = createHash('sha256').update(FILE).digest('hex');
const WITHIN_MS = 30_000;

interface Party {
  id: string;
  url: string;
  headers: Record<string, string>;
}

interface Relayed {
  /** The time from the first byte sent to the last byte received; null when it failed. */
  ms: number | null;
  problem: string | null;
}

interface TransferBody {
  transfer: { transfer_id: string; uploads?: { upload_url: string }[] };
}

/** Sends a file of 2 MiB through the relay, from one replica to the other, and compares the result. */
export async function relayOnce({
  ask,
  sender,
  receiver,
}: {
  ask: Ask;
  sender: Party;
  receiver: Party;
}): Promise<Relayed> {
  const failed = (problem: string): Relayed => ({ ms: null, problem });
  const post = (party: Party, path: string, body: unknown = {}) =>
    ask(party.url, { method: 'POST', path: `/api/transfer/${path}`, headers: party.headers, body });
  const offered = await post(sender, 'init', {
    to_device_id: receiver.id,
    files: [{ name: 'a file', size: FILE.length }],
  });
  if (offered.status !== 201) return failed(`init ${offered.status}`);
  const { transfer_id: id } = (offered.body as TransferBody).transfer;
  await post(receiver, `${id}/accept`);
  const relayed = await post(sender, `${id}/relay`);
  const url = (relayed.body as TransferBody | undefined)?.transfer?.uploads?.[0]?.upload_url;
  if (url === undefined) return failed(`relay ${relayed.status}`);
  const startedAt = performance.now();
  const [sent, received] = await Promise.all([
    ask(sender.url, {
      ...{ method: 'PATCH', path: url, body: FILE, withinMs: WITHIN_MS },
      headers: {
        ...sender.headers,
        ...{ 'Content-Type': 'application/partial-upload', 'Upload-Offset': '0', 'Upload-Complete': '?1' },
      },
    }),
    ask(receiver.url, { path: url, headers: receiver.headers, withinMs: WITHIN_MS }),
  ]);
  const ms = performance.now() - startedAt;
  const { status } = await post(receiver, `${id}/complete`);
  if (sent.status !== 204 || received.status !== 200)
    return failed(`upload ${sent.status}, download ${received.status}`);
  if (createHash('sha256').update(received.bytes).digest('hex') !== DIGEST) return failed('other bytes arrived');
  return status === 200 ? { ms, problem: null } : failed(`complete ${status}`);
}
