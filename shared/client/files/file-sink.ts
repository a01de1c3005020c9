import { BatonClientError } from '../errors/baton-client-error.ts';
import { failureOf } from '../errors/failure.ts';
import type { FileSink } from './files.ts';

/** Returns the sink that an application opened: its own, or one that writes to its stream. */
export function sinkOf(opened: FileSink | WritableStream<Uint8Array>): FileSink {
  if (!('getWriter' in opened)) return opened;
  const writer = opened.getWriter();
  return {
    // Each chunk is awaited, so the stream holds one at a time, whatever its mark is.
    write: (chunk) => writer.write(chunk),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  };
}

/** Runs a function of the application's sink, so that its error is reported as the sink's own. */
export async function ofSink<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BatonClientError) throw error;
    const message = `${name} cannot be stored: ${failureOf(error).message}`;
    throw new BatonClientError('sink_failed', message, { cause: error });
  }
}
