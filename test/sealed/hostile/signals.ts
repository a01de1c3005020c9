import type { Signal } from '../../../shared/client/transfers/peer-module.ts';
import { spoilt } from './chance.ts';
import type { End } from './ends.ts';
import type { PassedSignal } from './relay.ts';
import { check, type Run } from './run.ts';

const KINDS = ['offer', 'answer', 'candidate', 'bye'] as const;
const FORGED = [
  ...['spoilt', 'kind', 'back', 'plain', 'other transfer', 'null', 'plain bye'],
  ...['name', 'again', 'again', 'again'],
] as const;

/** One side of a transfer. */
interface Side {
  readonly id: string;
  readonly end: End;
}

/** A signal that a device has sent, and what the server got of it. */
interface SentSignal {
  /** Its place among all signals. */
  readonly place: number;
  readonly signal: Signal;
  readonly passed: PassedSignal;
}

const textOf = ({ kind, payload }: Signal): string => JSON.stringify([kind, payload]);
const sealedOf = ({ payload }: PassedSignal): string => (payload as { sealed?: string } | null)?.sealed ?? '';

/** Passes the signals of the two devices of a transfer, and checks what each of them takes. */
export function makeSignals({ chance, server, seen, parties, seed }: Run) {
  const { relay } = server;
  const all = new Map<string, SentSignal>();
  /** The place of the newest signal that a program has taken. */
  const newest = new WeakMap<End, number>();
  let count = 0;

  /** Sends some signals of one side. Returns them as the server got them. */
  async function send(from: Side, to: Side, transferId: string): Promise<PassedSignal[]> {
    const sent: PassedSignal[] = [];
    for (let left = 1 + chance.below(3); left > 0; left -= 1) {
      count += 1;
      const signal = { kind: chance.pick(KINDS), payload: { sdp: `a=fingerprint ${count} ${seed}` } };
      await from.end.signal({ ...signal, to: to.id, transferId });
      const passed = relay.signals.at(-1) as PassedSignal;
      check(!JSON.stringify(passed.payload).includes('fingerprint'), 'the server reads a signal');
      all.set(sealedOf(passed), { place: count, signal, passed });
      sent.push(passed);
    }
    return sent;
  }

  /** Returns what the server hands over besides a signal; null for nothing. */
  function lieOf(signal: PassedSignal, to: Side): PassedSignal | null {
    const one = (isWanted: (each: PassedSignal) => boolean): PassedSignal | null =>
      chance.pick(relay.signals.filter(isWanted)) ?? null;
    const isOfTransfer = ({ transferId }: PassedSignal) => transferId === signal.transferId;
    switch (chance.pick(FORGED)) {
      case 'spoilt':
        return { ...signal, payload: { sealed: spoilt(sealedOf(signal), chance) } };
      case 'kind':
        return { ...signal, kind: chance.pick(KINDS.filter((kind) => kind !== signal.kind)) };
      case 'back': {
        const own = one((each) => each.from === to.id && isOfTransfer(each));
        return own === null ? null : { ...own, from: signal.from };
      }
      case 'plain':
        return { ...signal, kind: 'offer', payload: { sdp: 'forged' } };
      case 'plain bye':
        count += 1;
        return { ...signal, kind: 'bye', payload: { reason: 'again', count } };
      case 'null':
        return { ...signal, kind: 'answer', payload: null };
      case 'other transfer':
        return one((each) => !isOfTransfer(each));
      case 'name':
        return { ...signal, from: chance.pick(parties).id };
      default:
        return one((each) => each.from === signal.from && isOfTransfer(each));
    }
  }

  /** Returns the signals as the server hands them over: with lies among them, repeated, in another order, or not at all. */
  function handed(sent: readonly PassedSignal[], to: Side): PassedSignal[] {
    const order = [...sent];
    if (chance.is(0.3)) order.reverse();
    if (chance.is(0.15)) order.pop();
    return order.flatMap((signal) => {
      const lie = chance.is(0.6) ? lieOf(signal, to) : null;
      return lie === null ? [signal] : chance.is(0.5) ? [lie, signal] : [signal, lie];
    });
  }

  /**
   * Returns what a device takes of these: the signals of the other device, each once, and none after a later one. A plain
   * `bye` says that a device has no direct paths, so it counts as long as that device has sealed nothing.
   */
  function wantedOf(signals: readonly PassedSignal[], from: Side, to: Side, transferId: string): Signal[] {
    return signals
      .filter((one) => {
        const [known, before] = [all.get(sealedOf(one)), newest.get(to.end) ?? 0];
        if (one.kind === 'bye' && sealedOf(one) === '') return before === 0;
        const isOwn = known?.passed.from === from.id && known.passed.transferId === transferId;
        if (!isOwn || known.passed.kind !== one.kind || known.place <= before) return false;
        newest.set(to.end, known.place);
        return true;
      })
      .map((one) => all.get(sealedOf(one))?.signal ?? one);
  }

  /** Hands the signals of one side to the other one, with lies between them, and checks what it takes. */
  async function handOver(sent: readonly PassedSignal[], from: Side, to: Side, transferId: string): Promise<void> {
    const given = handed(sent, to);
    const wanted = wantedOf(given, from, to, transferId).map(textOf);
    const taken = (await to.end.takeSignals(given, transferId)).map(textOf);
    seen.signals += taken.length;
    const isExtra = (text: string, at: number) => !wanted.includes(text) || taken.indexOf(text) !== at;
    check(!taken.some(isExtra), 'a signal was taken again, after a later one, or from somebody else');
    check(JSON.stringify(taken) === JSON.stringify(wanted), 'a signal was lost');
  }

  return {
    /** Lets both devices of a running transfer signal, one after the other. */
    async exchange(sender: Side, receiver: Side, transferId: string): Promise<void> {
      await handOver(await send(sender, receiver, transferId), sender, receiver, transferId);
      await handOver(await send(receiver, sender, transferId), receiver, sender, transferId);
    },
  };
}
