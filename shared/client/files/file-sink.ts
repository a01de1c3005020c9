import { BatonClientError } from '../errors/baton-client-error.ts';
import type { FileSink } from './files.ts';

/** Returns the sink that an application opened: its own, or one that writes to its stream. */
export function sinkOf(opened: FileSink | WritableStream<Uint8Array>): FileSink {
  if (!('getWriter' in opened)) return opened;
  const writer = opened.getWriter();
  return {
    async write(chunk) {
      await writer.ready;
      await writer.write(chunk);
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  };
}

/** Runs a function of the application's sink, so that its error is reported as the sink's own. */
export async function ofSink<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw error instanceof BatonClientError
      ? error
      : new BatonClientError('sink_failed', `${name} cannot be stored: ${said}`, { cause: error });
  }
}
