import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../contract/errors.ts';

/** For a whole body to arrive. */
const BODY_MS = 30_000;

const tooLarge = (limitBytes: number): BatonError =>
  new BatonError('body_too_large', `The body is limited to ${limitBytes} bytes here`);

const endedEarly = (): BatonError => new BatonError('invalid_request', 'The body ended early');

/** What small bodies come as: together with their head, and nothing has to be waited for. */
const isHere = ({ complete, readableLength }: IncomingMessage, announced: number): boolean =>
  readableLength > 0 && (complete || readableLength === announced);

function readWhole(req: IncomingMessage, limitBytes: number): Buffer {
  const bytes = req.read() as Buffer | null;
  if (bytes === null || req.destroyed) throw endedEarly();
  if (bytes.length > limitBytes) throw tooLarge(limitBytes);
  // The parser may not have said yet that this was all, and the request ends when that is taken too.
  if (!req.complete) req.resume();
  return bytes;
}

function collect(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    // Whoever is so slow is not waited for, and not answered either.
    const timer = setTimeout(() => req.socket.destroy(), BODY_MS);
    const settle = (done: () => void): void => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      done();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= limitBytes) chunks.push(chunk);
      else settle(() => reject(tooLarge(limitBytes)));
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, length)));
    const onClose = (): void => settle(() => reject(endedEarly()));
    req.on('data', onData).on('end', onEnd).on('close', onClose);
    // What broke it is told by the close that follows.
    req.on('error', () => undefined);
  });
}

/**
 * The whole body, uncompressed. One that is too large is refused at once, and not read to its end first: that is left to
 * whoever bounds what comes after an answer.
 * @throws body_too_large, unsupported_media_type when it is compressed, invalid_request when it ends early
 */
export function readBytes(req: IncomingMessage, limitBytes: number): Buffer | Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': announced = '0' } = req.headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new BatonError('unsupported_media_type', 'Send the body without Content-Encoding');
  }
  if (Number(announced) > limitBytes) throw tooLarge(limitBytes);
  return isHere(req, Number(announced)) ? readWhole(req, limitBytes) : collect(req, limitBytes);
}
