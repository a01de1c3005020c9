import type { Answer } from '../load/http.ts';
import type { Attack, AttackDevice } from './scenario.ts';

const PART_BYTES = 255;

/** Returns a name of three folder parts of full length. A list of such files is as long as a request may be. */
const longName = (i: number): string => [`${i}-`, 'b', 'c'].map((start) => start.padEnd(PART_BYTES, 'x')).join('/');

/** Returns the files of the longest offer that the service takes: 1,000 files, some 800 KB. */
export const longFiles = (count: number): { name: string; size: number }[] =>
  Array.from({ length: count }, (_, i) => ({ name: longName(i), size: 1_000_000 }));

export const idOf = ({ body }: Answer): string | null =>
  (body as { transfer?: { transfer_id: string } } | undefined)?.transfer?.transfer_id ?? null;

interface Offer {
  sender: AttackDevice;
  receiver: AttackDevice;
  files: unknown[];
  sealed?: string;
}

/** Resolves to the transfer's id; null when it was refused. */
export async function offer(attack: Attack, { sender, receiver, files, sealed }: Offer): Promise<string | null> {
  const body = { to_device_id: receiver.id, files, ...(sealed !== undefined && { sealed }) };
  return idOf(await attack.ask(sender, { method: 'POST', path: '/api/transfer/init', body }));
}

export const act = (
  attack: Attack,
  device: AttackDevice,
  id: string,
  action: string,
  body: unknown = {},
): Promise<Answer> => attack.ask(device, { method: 'POST', path: `/api/transfer/${id}/${action}`, body });
