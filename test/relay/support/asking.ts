import { request as httpRequest } from 'node:http';
import { request, type WireAnswer } from '../../support/wire.ts';
import type { Relayed } from './relayed.ts';

interface Target {
  url: string;
}

export const pathOf = (relayed: Relayed, index = 0, generation = 0): string =>
  relayed.url({ url: '' }, index, generation);

interface Append {
  offset: number;
  body: Buffer;
  complete?: boolean;
  headers?: Record<string, string>;
  generation?: number;
  index?: number;
}

/** Sends one piece, as a browser does. */
export const append = (relayed: Relayed, replica: Target, { offset, body, complete, ...more }: Append) =>
  request(replica, {
    method: 'PATCH',
    path: pathOf(relayed, more.index, more.generation),
    headers: {
      ...relayed.sender.headers,
      'Content-Type': 'application/partial-upload',
      'Upload-Offset': String(offset),
      'Upload-Complete': complete ? '?1' : '?0',
      ...more.headers,
    },
    body,
  });

export const head = (relayed: Relayed, replica: Target, generation = 0, index = 0) =>
  request(replica, { method: 'HEAD', path: pathOf(relayed, index, generation), headers: relayed.sender.headers });

/** Returns the whole answer as bytes. */
export async function read(relayed: Relayed, replica: Target, range?: string, index = 0) {
  const headers = { ...relayed.receiver.headers, ...(range !== undefined && { Range: range }) };
  const answer = await fetch(relayed.url(replica, index), { headers });
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
}

export const acknowledge = (relayed: Relayed, replica: Target, received_bytes: number, index = 0) =>
  request(replica, {
    method: 'POST',
    path: `${pathOf(relayed, index)}/ack`,
    headers: relayed.receiver.headers,
    body: { received_bytes },
  });

export const offsetOf = ({ headers }: WireAnswer) => ({
  offset: headers['upload-offset'],
  complete: headers['upload-complete'],
  length: headers['upload-length'],
});

/** An upload in one request. The test decides when its bytes come. */
export interface OpenUpload {
  send(bytes: Buffer): void;
  end(): void;
  /** The answer; null when the connection was cut without one. */
  readonly answer: Promise<{ status: number; body: string } | null>;
}

export function openUpload(relayed: Relayed, replica: Target, offset: number, generation = 0): OpenUpload {
  const { hostname, port } = new URL(replica.url);
  const sent = httpRequest({
    ...{ hostname, port, method: 'PATCH', path: pathOf(relayed, 0, generation) },
    headers: {
      ...relayed.sender.headers,
      'Content-Type': 'application/partial-upload',
      'Upload-Offset': String(offset),
      'Transfer-Encoding': 'chunked',
    },
  });
  const answer = new Promise<{ status: number; body: string } | null>((resolve) => {
    sent.once('error', () => resolve(null));
    sent.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('close', () => {
        sent.destroy();
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
  });
  sent.flushHeaders();
  return { send: (bytes) => void sent.write(bytes), end: () => void sent.end(), answer };
}

/** Asks again until it is so. A test that waits in vain ends by its own timeout. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Waits until the upload is known to have come this far. */
export const untilSent = (relayed: Relayed, replica: Target, bytes: number, generation = 0) =>
  until(async () => Number(offsetOf(await head(relayed, replica, generation)).offset) >= bytes);

/** Returns a row of a replica's metrics; 0 if there is none. */
async function rowOf({ adminUrl }: { adminUrl: string }, row: string): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(`baton_${row} `))
      ?.split(' ')[1] ?? 0,
  );
}

/** Returns how many relay requests are under way on a replica. */
export const active = (replica: { adminUrl: string }, direction: 'up' | 'down'): Promise<number> =>
  rowOf(replica, `relay_active{direction="${direction}"}`);

/** Returns how many bytes of files the relay requests of a replica hold. */
export const buffered = (replica: { adminUrl: string }): Promise<number> => rowOf(replica, 'relay_buffered_bytes');
