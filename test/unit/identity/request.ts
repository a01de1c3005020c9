import type { IncomingMessage } from 'node:http';

type Header = readonly [name: string, value: string];

interface Parts {
  url?: string;
  /** The address of the socket's other end. */
  peer?: string;
}

/**
 * Makes a request as Node passes it on: header bytes as Latin-1, names as sent in `rawHeaders`, repetitions kept apart.
 */
export function requestWith(
  headers: readonly Header[],
  { url = '/', peer = '127.0.0.1' }: Parts = {},
): IncomingMessage {
  const headersDistinct: Record<string, string[]> = {};
  for (const [name, value] of headers) (headersDistinct[name.toLowerCase()] ??= []).push(value);
  const joined = Object.entries(headersDistinct).map(([name, values]) => [name, values.join(', ')]);
  return {
    url,
    method: 'GET',
    rawHeaders: headers.flat(),
    headersDistinct,
    headers: Object.fromEntries(joined),
    socket: { remoteAddress: peer },
  } as unknown as IncomingMessage;
}

/** Returns the text as Node shows its UTF-8 bytes. */
export const asHeaderBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Resolves to the code of the error with which `act` ends; `none` when it succeeds. */
export async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return 'none';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}
