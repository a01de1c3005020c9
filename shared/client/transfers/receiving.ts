import type { Hash } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import { feed } from '../files/digest.ts';
import { failureOf, goesOn } from '../errors/failure.ts';
import { makeFileQueue } from './file-queue.ts';
import { ofSink, sinkOf } from '../files/file-sink.ts';
import type { FileSink, OpenSink } from '../files/files.ts';
import type { PeerReceiving } from './peer-module.ts';
import { download } from './relay-calls.ts';
import type { Run } from './transfer-run.ts';
import type { TransferFile } from '../wire.ts';

/** How often the service hears how far a file is stored. */
const TELL_MS = 1_000;

interface Parts {
  run: Run;
  caller: Caller;
  clock: Clock;
  open: OpenSink;
  sha256: () => Hash;
  concurrency: number;
  /** Returns the path from device to device; null without one. A function, because the path needs this receiver too. */
  peer: () => PeerReceiving | null;
  onProblem: (error: unknown) => void;
}

export interface Receiver {
  begin(): void;
  /** Requests again what is under way: it may have been lost with the network, or another path is better. */
  nudge(): void;
}

/** A file that moves into its sink. */
interface Arriving {
  file: TransferFile;
  sink: FileSink;
  /** Null if no digest is needed, or if the sink makes it. */
  hash: Hash | null;
  position: number;
  toldMs: number;
  /** True: the relay does not know how much is stored. */
  isAhead: boolean;
}

/** Accepts a transfer, and moves its files into their sinks, each from its offset, until all of them are as announced. */
export function makeReceiver({ run, caller, clock, open, sha256, concurrency, onProblem, ...parts }: Parts): Receiver {
  const { signal, meter } = run;
  const params = { transfer_id: run.id };
  const files = run.transfer.files ?? [];
  const attempts = new Set<AbortController>();
  /** Files that came whole on another path than the relay. The relay may have to know. */
  const wholeElsewhere: Arriving[] = [];
  const isRelayed = () => run.transfer.state === 'RELAY_ACTIVE';

  async function openFile(file: TransferFile): Promise<Arriving> {
    const sink = sinkOf(await ofSink(file.name, () => open(file, signal, run)));
    const isMadeHere = file.sha256 !== null && !sink.isStored && !sink.digest;
    const hash = isMadeHere ? sha256() : null;
    const position = sink.offset ?? 0;
    return { file, sink, hash, position, toldMs: clock.now(), isAhead: position > 0 };
  }

  /** Reads the stored bytes, which are a part of the digest. */
  async function readStored({ file, sink, hash, position }: Arriving): Promise<void> {
    if (position > file.size)
      throw new BatonClientError('sink_failed', `${file.name} has more than ${file.size} bytes`);
    meter.file(file.index, position);
    if (position === 0 || hash === null) return;
    const stored = await ofSink(file.name, async () => {
      const stream = await sink.read?.();
      return stream === undefined ? -1 : feed(hash, stream, signal);
    });
    if (stored !== position) throw new BatonClientError('sink_failed', `${file.name}: what is stored cannot be read`);
  }

  /** Acknowledges what a restarted receiver has: the relay need not keep it, and the sender need not send it. */
  const acknowledge = ({ file, sink, position }: Arriving) =>
    caller.call('ackDownload', {
      params: { ...params, index: file.index, generation: 0 },
      body: { received_bytes: sink.kept?.() ?? position },
      signal,
    });

  /** Reports progress to the sender. After a lost report another one follows. */
  function tellStored(arriving: Arriving): void {
    const nowMs = clock.now();
    if (nowMs - arriving.toldMs < TELL_MS) return;
    arriving.toldMs = nowMs;
    const body = { phase: 'transferring', progress: { received_bytes: meter.now.bytes } } as const;
    const told = arriving.isAhead ? caller.call('phaseTransfer', { params, body, signal }) : acknowledge(arriving);
    told.catch(() => {});
  }

  /** Acknowledges files that came whole on another path, as long as the relay is in use. */
  async function tellWhole(): Promise<void> {
    for (;;) {
      await run.until(() => isRelayed() && wholeElsewhere.length > 0);
      const whole = wholeElsewhere[0] as Arriving;
      await run.insist(() => acknowledge(whole)).catch(() => {});
      wholeElsewhere.shift();
    }
  }

  async function take(arriving: Arriving, bytes: Uint8Array): Promise<void> {
    const { file, sink, hash } = arriving;
    if (bytes.length > file.size - arriving.position) {
      throw new BatonClientError('digest_mismatch', `${file.name} has more than ${file.size} bytes`);
    }
    await ofSink(file.name, () => sink.write(bytes));
    hash?.update(bytes);
    arriving.position += bytes.length;
    meter.file(file.index, arriving.position);
    tellStored(arriving);
  }

  async function fetchDirect(arriving: Arriving, peer: PeerReceiving): Promise<void> {
    const { file, position } = arriving;
    meter.path('direct');
    arriving.isAhead = true;
    const { index, size } = file;
    await peer.fetch({ index, size, offset: position, take: (bytes) => take(arriving, bytes) });
  }

  async function attempt(arriving: Arriving): Promise<void> {
    const peer = parts.peer();
    if (peer?.isOpen) return fetchDirect(arriving, peer);
    if (arriving.isAhead) await acknowledge(arriving);
    arriving.isAhead = false;
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

  /** Prepares the next attempt after an error. Throws the error if a retry cannot help. */
  async function mend(error: BatonClientError, failures: number): Promise<void> {
    if (error.code === 'invalid_transition') await run.insist(run.refresh);
    else if (error.action !== 'retry' && error.code !== 'aborted') throw error;
    await run.backOff(failures, error.retryAfterMs);
  }

  async function fetchAll(arriving: Arriving): Promise<void> {
    const { file } = arriving;
    let failures = 0;
    while (arriving.position < file.size) {
      await run.unpaused();
      await run.until(() => isRelayed() || parts.peer()?.isOpen === true);
      const before = arriving.position;
      try {
        await attempt(arriving);
        // A download that was cut short is requested again; without any byte only after a pause.
        if (arriving.position === before) await run.backOff(failures);
      } catch (error) {
        signal.throwIfAborted();
        if (run.pauseSignal().aborted) continue;
        await mend(failureOf(error), arriving.position > before ? 0 : failures);
      }
      failures = arriving.position > before ? 0 : failures + 1;
    }
  }

  function cameElsewhere(arriving: Arriving): void {
    parts.peer()?.stored(arriving.file.index);
    wholeElsewhere.push(arriving);
    run.wake();
  }

  async function compare({ file, sink, hash }: Arriving): Promise<void> {
    if (file.sha256 === null || sink.isStored) return;
    const digest = hash?.hex() ?? (await ofSink(file.name, () => sink.digest?.()));
    if (digest !== file.sha256) throw new BatonClientError('digest_mismatch', `${file.name} is not what was sent`);
  }

  async function receive(index: number): Promise<void> {
    const file = files[index] as TransferFile;
    const arriving = await openFile(file);
    const { sink } = arriving;
    try {
      await readStored(arriving);
      await fetchAll(arriving);
      await compare(arriving);
      await ofSink(file.name, () => sink.close());
      if (arriving.isAhead && file.size > 0) cameElsewhere(arriving);
    } catch (error) {
      // A stopped transfer may be resumed later; a failed one never is.
      const isFinal = !goesOn(failureOf(signal.aborted ? signal.reason : error));
      await Promise.resolve(sink.abort?.(error, isFinal)).catch(onProblem);
      throw error;
    }
  }

  async function complete(): Promise<void> {
    await run.act('completeTransfer').catch(async () => {
      // A path is missing: all files are empty, or the store lost it with its primary. A transfer that has ended takes no
      // path, and fails here too.
      await run.act('p2pTransfer');
      await run.act('completeTransfer');
    });
  }

  const queue = makeFileQueue({
    sizes: files.map(({ size }) => size),
    concurrency,
    move: receive,
    onDone: () => void complete().catch((error: unknown) => run.fail(failureOf(error))),
    onFailed: (error) => void stop(failureOf(error)),
  });

  /** Stops or fails the run. A transfer that another program of this device receives continues there, and has not failed. */
  const stop = (error: BatonClientError) => (error.code === 'taken' ? run.stop(error) : run.fail(error));

  async function accept(): Promise<void> {
    await run.act('acceptTransfer');
    tellWhole().catch(() => {});
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
