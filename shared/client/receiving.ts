import type { Hash } from './api.ts';
import { BatonClientError } from './baton-client-error.ts';
import type { Caller } from './caller.ts';
import type { Clock } from './clock.ts';
import { feed } from './digest.ts';
import { failureOf } from './failure.ts';
import { makeFileQueue } from './file-queue.ts';
import type { FileSink, OpenSink } from './files.ts';
import { download } from './relay-calls.ts';
import type { Run } from './transfer-run.ts';
import type { TransferFile } from './wire.ts';

/** How often the service is told how far a file is stored. */
const TELL_MS = 1_000;

interface Parts {
  run: Run;
  caller: Caller;
  clock: Clock;
  open: OpenSink;
  sha256: () => Hash;
  concurrency: number;
  onProblem: (error: unknown) => void;
}

export interface Receiver {
  begin(): void;
  /** What is under way may have been lost with the network: it is asked for again. */
  nudge(): void;
}

const tellUser = (code: BatonClientError['code'], message: string, cause?: unknown): BatonClientError =>
  new BatonClientError(code, message, { action: 'tell-user', cause });

/** A file that is on its way into its sink. */
interface Arriving {
  file: TransferFile;
  sink: FileSink;
  hash: Hash | null;
  position: number;
  toldMs: number;
}

function sinkOf(opened: FileSink | WritableStream<Uint8Array>): FileSink {
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

/** Runs what the application gave, so that what it throws is told as its own. */
async function ofSink<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw error instanceof BatonClientError
      ? error
      : tellUser('sink_failed', `${name} cannot be stored: ${said}`, error);
  }
}

/** Accepts a transfer and puts its files into their sinks, each from where it is, until all of them are what was announced. */
export function makeReceiver({ run, caller, clock, open, sha256, concurrency, onProblem }: Parts): Receiver {
  const { signal, meter } = run;
  const params = { transfer_id: run.id };
  const files = run.transfer.files ?? [];
  const attempts = new Set<AbortController>();

  async function openFile(file: TransferFile): Promise<Arriving> {
    const sink = sinkOf(await ofSink(file.name, () => open(file, signal)));
    const hash = file.sha256 === null ? null : sha256();
    return { file, sink, hash, position: sink.offset ?? 0, toldMs: clock.now() };
  }

  /** What is stored already is a part of what is digested. */
  async function readStored({ file, sink, hash, position }: Arriving): Promise<void> {
    if (position > file.size) throw tellUser('sink_failed', `${file.name} has more than ${file.size} bytes already`);
    meter.file(file.index, position);
    if (position === 0 || hash === null) return;
    const stored = await ofSink(file.name, async () => {
      const stream = await sink.read?.();
      return stream === undefined ? -1 : feed(hash, stream, signal);
    });
    if (stored !== position) throw tellUser('sink_failed', `${file.name}: what is stored cannot be read`);
  }

  /** For the sender's eyes, and so that the relay need not keep what is stored. One that is lost is followed by another. */
  function tellStored(arriving: Arriving): void {
    const { file, position } = arriving;
    const nowMs = clock.now();
    if (nowMs - arriving.toldMs < TELL_MS) return;
    arriving.toldMs = nowMs;
    const body = { received_bytes: position };
    const place = { transfer_id: run.id, index: file.index, generation: 0 };
    caller.call('ackDownload', { params: place, body, signal }).catch(() => {});
  }

  async function take(arriving: Arriving, bytes: Uint8Array): Promise<void> {
    const { file, sink, hash } = arriving;
    if (bytes.length > file.size - arriving.position) {
      throw tellUser('digest_mismatch', `${file.name} has more than ${file.size} bytes`);
    }
    await ofSink(file.name, () => sink.write(bytes));
    hash?.update(bytes);
    arriving.position += bytes.length;
    meter.file(file.index, arriving.position);
    tellStored(arriving);
  }

  async function attempt(arriving: Arriving): Promise<void> {
    const { file, position } = arriving;
    const controller = new AbortController();
    attempts.add(controller);
    meter.path('relay');
    try {
      const either = AbortSignal.any([signal, run.pauseSignal(), controller.signal]);
      const path = `/api/relay/${run.id}/${file.index}/0`;
      const wanted = { path, offset: position, take: (bytes: Uint8Array) => take(arriving, bytes) };
      await download(caller, clock, wanted, either);
    } finally {
      attempts.delete(controller);
    }
  }

  /** What went wrong with an attempt. Throws what cannot be mended. */
  async function mend(error: BatonClientError, failures: number): Promise<void> {
    if (error.code === 'invalid_transition') await run.insist(() => run.refresh());
    else if (error.action !== 'retry' && error.code !== 'aborted') throw error;
    await run.backOff(failures, error.retryAfterMs);
  }

  async function fetchAll(arriving: Arriving): Promise<void> {
    const { file } = arriving;
    let failures = 0;
    while (arriving.position < file.size) {
      await run.unpaused();
      await run.until(({ state }) => state === 'RELAY_ACTIVE');
      const before = arriving.position;
      try {
        await attempt(arriving);
        // Cut short, it is asked for again; without a byte not at once.
        if (arriving.position === before) await run.backOff(failures);
      } catch (error) {
        signal.throwIfAborted();
        if (run.pauseSignal().aborted) continue;
        await mend(failureOf(error), arriving.position > before ? 0 : failures);
      }
      failures = arriving.position > before ? 0 : failures + 1;
    }
  }

  async function receive(index: number): Promise<void> {
    const file = files[index] as TransferFile;
    const arriving = await openFile(file);
    const { sink, hash } = arriving;
    try {
      await readStored(arriving);
      await fetchAll(arriving);
      if (hash !== null && hash.hex() !== file.sha256) {
        throw tellUser('digest_mismatch', `${file.name} is not what was sent`);
      }
      await ofSink(file.name, () => sink.close());
    } catch (error) {
      // Whoever stopped it may go on later; what cannot go on never will.
      const code = failureOf(signal.aborted ? signal.reason : error).code;
      const isFinal = !['aborted', 'signed_out'].includes(code);
      await Promise.resolve(sink.abort?.(error, isFinal)).catch(onProblem);
      throw error;
    }
  }

  async function complete(): Promise<void> {
    // Where every file is empty its sender may not have taken a path yet.
    await run.until(({ state }) => state === 'RELAY_ACTIVE' || state === 'P2P_ACTIVE');
    const { body } = await run.insist(() => caller.call('completeTransfer', { params, signal }));
    run.update(body.transfer);
  }

  const queue = makeFileQueue({
    sizes: files.map(({ size }) => size),
    concurrency,
    move: receive,
    onDone: () => void complete().catch((error: unknown) => run.fail(failureOf(error))),
    onFailed: (error) => void run.fail(failureOf(error)),
  });

  async function accept(): Promise<void> {
    const { body } = await run.insist(() => caller.call('acceptTransfer', { params, signal }));
    run.update(body.transfer);
    queue.pump();
  }

  return {
    begin: () => void accept().catch((error: unknown) => run.fail(failureOf(error))),
    nudge() {
      for (const controller of attempts) controller.abort();
      run.nudge();
    },
  };
}
