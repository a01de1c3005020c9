import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';

const tooLarge = (limitBytes: number): BatonError =>
  new BatonError('body_too_large', `The body is limited to ${limitBytes} bytes here`);

/**
 * The whole body, uncompressed. One that is too large is refused at once, and not read to its end first: that is left to
 * whoever bounds what comes after an answer.
 * @throws body_too_large, unsupported_media_type when it is compressed, invalid_request when it ends early
 */
export function readBytes(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': announced = '0' } = req.headers;
  return new Promise((resolve, reject) => {
    if (encoding.toLowerCase() !== 'identity') {
      return reject(new BatonError('unsupported_media_type', 'Send the body without Content-Encoding'));
    }
    if (Number(announced) > limitBytes) return reject(tooLarge(limitBytes));
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (done: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      done();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= limitBytes) chunks.push(chunk);
      else settle(() => reject(tooLarge(limitBytes)));
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, length)));
    const onClose = (): void => settle(() => reject(new BatonError('invalid_request', 'The body ended early')));
    req.on('data', onData).on('end', onEnd).on('close', onClose);
    // What broke it is told by the close that follows.
    req.on('error', () => undefined);
  });
}
