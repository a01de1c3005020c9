import { type Client, makeClient } from '../../shared/client/http/client.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import type { Fleet } from './fleet.ts';

const ACCOUNT = 'steps';

/** Both sides take their steps within this time. */
const STEPS_WITHIN_MS = 2_000;

const SENDER = ['relay', 'p2p', 'fail', 'cancel', 'complete'] as const;
const RECEIVER = ['accept', 'reject', 'p2p', 'complete', 'fail', 'cancel', 'relay'] as const;
const CALLS = {
  accept: 'acceptTransfer',
  reject: 'rejectTransfer',
  p2p: 'p2pTransfer',
  relay: 'relayTransfer',
  complete: 'completeTransfer',
  fail: 'failTransfer',
  cancel: 'cancelTransfer',
} as const;

interface TransferLoadParts {
  fleet: Fleet;
  random: Random;
}

/**
 * Transfers without bytes. Both sides and a third device take any steps at any time. The checks look at the store, not
 * at the answers.
 */
export class TransferLoad {
  readonly #parts: TransferLoadParts;

  constructor(parts: TransferLoadParts) {
    this.#parts = parts;
  }

  #clientOf(name: string): { id: string; client: Client } {
    const { fleet, random } = this.#parts;
    const id = `${ACCOUNT}-${name}-device`;
    const headers = { 'X-Dev-User': ACCOUNT, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' };
    return { id, client: makeClient({ baseUrl: () => fleet.choose().process.url, headers, random: random.next }) };
  }

  /** Runs one transfer. A call that fails is not repeated here, because nobody waits for its result. */
  async transfer(number: number): Promise<void> {
    const { random } = this.#parts;
    const [sender, receiver] = [this.#clientOf(`from${number}`), this.#clientOf(`to${number}`)];
    const other = this.#clientOf(`other${number}`);
    const body = { to_device_id: receiver.id, files: [{ name: 'file.bin', size: 1 }] };
    const offered = await receiver.client
      .call('listDevices')
      .then(() => sender.client.call('initTransfer', { body }))
      .catch(() => null);
    if (offered === null) return;
    const params = { transfer_id: offered.body.transfer.transfer_id };
    const steps = [
      ...random.shuffled(SENDER).map((step) => [sender.client, step] as const),
      ...random.shuffled(RECEIVER).map((step) => [receiver.client, step] as const),
      ...random.shuffled(RECEIVER).map((step) => [other.client, step] as const),
    ];
    await Promise.all(
      random.shuffled(steps).map(async ([client, step]) => {
        await wait(random.between(0, STEPS_WITHIN_MS));
        await client.call(CALLS[step], { params }).catch(() => null);
      }),
    );
  }
}
