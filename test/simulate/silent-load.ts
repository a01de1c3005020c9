import type { Violation } from '../chaos/checker/violation.ts';
import { ChaosDevice } from '../chaos/load/chaos-device.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import type { Fleet } from './fleet.ts';
import type { StoreAdapter } from './world/store-adapter.ts';

/** Two sweeps and a quarter, a replica that stands still meanwhile, and a reserve. */
const ARRIVES_WITHIN_MS = 60_000;

const CHECK_EVERY_MS = 500;

interface SilentLoadParts {
  fleet: Fleet;
  store: StoreAdapter;
  random: Random;
  now: () => number;
  /** Takes messages that did not arrive. */
  violations: Violation[];
}

/** Accounts in which one message is sent, its announcement is lost, and nothing follows. Only the sweep can find it. */
export class SilentLoad {
  readonly #parts: SilentLoadParts;

  constructor(parts: SilentLoadParts) {
    this.#parts = parts;
  }

  #deviceOf(account: string, name: string): ChaosDevice {
    const { fleet, random, now } = this.#parts;
    return new ChaosDevice({
      ...{ account, id: `${account}-${name}-device`, name, random, now },
      chooseUrl: () => fleet.choose().process.url,
      replicaNameOf: (url) => fleet.nameOf(url),
      onMessage: () => undefined,
    });
  }

  async say(number: number): Promise<void> {
    const { store, now, violations } = this.#parts;
    const account = `silent${number}`;
    const [sender, receiver] = [this.#deviceOf(account, 'sender'), this.#deviceOf(account, 'receiver')];
    receiver.listen();
    const untilMs = now() + ARRIVES_WITHIN_MS;
    while (!receiver.isOpen && now() < untilMs) await wait(CHECK_EVERY_MS);
    const losesBefore = store.losesPush;
    store.losesPush = () => true;
    const body = { to_device_id: receiver.id, content: 'silence' };
    const isAccepted = await sender.client.call('sendMessage', { body }).then(
      () => true,
      () => false,
    );
    store.losesPush = losesBefore;
    const hasCome = (): boolean => receiver.history.frames.some((frame) => frame.name === 'message');
    const latestMs = now() + ARRIVES_WITHIN_MS;
    while (isAccepted && !hasCome() && now() < latestMs) await wait(CHECK_EVERY_MS);
    await receiver.leave();
    if (!isAccepted || hasCome()) return;
    const says = `a message whose announcement was lost had not come after ${ARRIVES_WITHIN_MS} ms`;
    violations.push({ check: 'loss', at: now(), account, device: receiver.id, says });
  }
}
