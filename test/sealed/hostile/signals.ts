import type { Signal } from '../../../shared/client/transfers/peer-module.ts';
import { spoilt } from './chance.ts';
import type { End } from './ends.ts';
import type { PassedSignal } from './relay.ts';
import { check, type Run } from './run.ts';

const KINDS = ['offer', 'answer', 'candidate', 'bye'] as const;
const WAYS = [
  'as it is',
  'as it is',
  'spoilt',
  'kind',
  'back',
  'plain',
  'other transfer',
  'name',
  'twice',
  'null',
] as const;

/** One side of a transfer. */
interface Side {
  readonly id: string;
  readonly end: End;
}

const textOf = ({ kind, payload }: Signal): string => JSON.stringify([kind, payload]);

/** Passes the signals of the two devices of a transfer, and checks what each of them takes. */
export function makeSignals({ chance, server, seen, parties, seed }: Run) {
  const { relay } = server;
  let count = 0;

  /** Sends some signals of one side. Returns them with what the server got. */
  async function send(from: Side, to: Side, transferId: string): Promise<[Signal, PassedSignal][]> {
    const sent: [Signal, PassedSignal][] = [];
    for (let left = 1 + chance.below(3); left > 0; left -= 1) {
      count += 1;
      const signal = { kind: chance.pick(KINDS), payload: { sdp: `a=fingerprint ${count} ${seed}` } };
      await from.end.signal({ ...signal, to: to.id, transferId });
      const passed = relay.signals.at(-1) as PassedSignal;
      check(!JSON.stringify(passed.payload).includes('fingerprint'), 'the server reads a signal');
      sent.push([signal, passed]);
    }
    return sent;
  }

  /** Returns a signal as the server hands it over. Null: as it is. */
  function lieOf(signal: PassedSignal, to: Side): PassedSignal | null {
    const sealed = (signal.payload as { sealed?: string }).sealed ?? '';
    const others = (isOther: (each: PassedSignal) => boolean) => relay.signals.filter(isOther);
    switch (chance.pick(WAYS)) {
      case 'spoilt':
        return { ...signal, payload: { sealed: spoilt(sealed, chance) } };
      case 'kind':
        return { ...signal, kind: chance.pick(KINDS.filter((kind) => kind !== signal.kind)) };
      case 'back': {
        const own = others(({ from, transferId }) => from === to.id && transferId === signal.transferId);
        return own.length === 0 ? null : { ...chance.pick(own), from: signal.from };
      }
      case 'plain':
        return { ...signal, kind: 'offer', payload: { sdp: 'forged' } };
      case 'null':
        return { ...signal, kind: 'answer', payload: null };
      case 'other transfer': {
        const all = others(({ transferId }) => transferId !== signal.transferId);
        return all.length === 0 ? null : chance.pick(all);
      }
      case 'name':
        return { ...signal, from: chance.pick(parties).id };
      default:
        return null;
    }
  }

  /** Hands the signals of one side to the other one, with lies between them, and checks what it takes. */
  async function handOver(sent: readonly [Signal, PassedSignal][], to: Side, transferId: string): Promise<void> {
    const handed: PassedSignal[] = [];
    const genuine: string[] = [];
    for (const [signal, passed] of sent) {
      const lie = chance.is(0.6) ? lieOf(passed, to) : null;
      if (lie !== null) handed.push(lie);
      const isNamed = lie !== null && lie.payload === passed.payload && lie.kind === passed.kind;
      // A plain `bye` says that a device has no direct paths. An attacker who can forge it can drop all signals as well.
      genuine.push(...(isNamed ? [textOf(signal)] : []), textOf(signal));
      handed.push(passed);
    }
    const taken = (await to.end.takeSignals(handed, transferId)).map(textOf);
    seen.signals += taken.length;
    check(!(taken.length > genuine.length), 'a signal was taken that nobody sent');
    check(
      taken.every((text) => genuine.includes(text)),
      'a signal was taken that the other device did not send',
    );
    check(
      genuine.every((text, at) => taken[at] === text),
      'a signal was lost',
    );
  }

  return {
    /** Lets both devices of a running transfer signal, one after the other. */
    async exchange(sender: Side, receiver: Side, transferId: string): Promise<void> {
      await handOver(await send(sender, receiver, transferId), receiver, transferId);
      await handOver(await send(receiver, sender, transferId), sender, transferId);
    },
  };
}
