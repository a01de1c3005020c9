import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../contract/errors.ts';

/** The time limit for a whole body to arrive. */
const BODY_MS = 30_000;

const tooLarge = (limitBytes: number): BatonError =>
  new BatonError('body_too_large', `The body is limited to ${limitBytes} bytes here`);

const endedEarly = (): BatonError => new BatonError('invalid_request', 'The body ended early');

/** Returns whether the whole body is here already, as small bodies are that arrive together with their head. */
const isHere = ({ complete, readableLength }: IncomingMessage, announced: number): boolean =>
  readableLength > 0 && (complete || readableLength === announced);

function readWhole(req: IncomingMessage, limitBytes: number): Buffer {
  const bytes = req.read() as Buffer | null;
  if (bytes === null || req.destroyed) throw endedEarly();
  if (bytes.length > limitBytes) throw tooLarge(limitBytes);
  // The parser may not have reported the end yet, and the request ends only when that is read too.
  if (!req.complete) req.resume();
  return bytes;
}

function collect(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    // A sender that is too slow is cut off without an answer.
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
    // The close that follows reports the failure.
    req.on('error', () => undefined);
  });
}

/**
 * Reads the whole body, uncompressed. A body that is too large is refused at once, and not read to its end. The code that
 * limits what comes after a response handles the rest.
 * @throws body_too_large, unsupported_media_type if it is compressed, invalid_request if it ends early
 */
export function readBytes(req: IncomingMessage, limitBytes: number): Buffer | Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': announced = '0' } = req.headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new BatonError('unsupported_media_type', 'Send the body without Content-Encoding');
  }
  if (Number(announced) > limitBytes) throw tooLarge(limitBytes);
  return isHere(req, Number(announced)) ? readWhole(req, limitBytes) : collect(req, limitBytes);
}
