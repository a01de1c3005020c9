import type { BatonClient, BatonClientOptions, IncomingTransfer, RunningTransfer } from '../../shared/client/api.ts';
import { makeBatonClient } from '../../shared/client/baton-client.ts';
import type { TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';

/** Starts two replicas for the tests of a file, and closes the clients that a test has made. */
export function useClients(options: Pick<BatonClientOptions, 'sha256' | 'fetch'> = {}) {
  let site: Site;
  const open = new Set<BatonClient>();
  beforeAll(async () => {
    site = await startSite();
  });
  afterEach(async () => {
    await Promise.all([...open].map((client) => client.close()));
    open.clear();
  });
  afterAll(() => site.stop());

  /** Makes a client of this device, and starts it. */
  function started({ headers }: TestDevice, { url: baseUrl }: { url: string }): BatonClient {
    const client = makeBatonClient({ baseUrl, headers, ...options });
    open.add(client);
    client.start();
    return client;
  }

  /** Resolves to a client of this device with an open stream. */
  async function joined(device: TestDevice, replica: { url: string }): Promise<BatonClient> {
    const client = started(device, replica);
    await client.untilOnline();
    return client;
  }

  return {
    get site() {
      return site;
    },
    ...{ started, joined },

    /** Makes two devices of one account, each on a replica of its own. */
    async pair() {
      const devices = await site.enrol('Laptop', 'Phone');
      const [laptop, phone] = await Promise.all([joined(devices[0], site.one), joined(devices[1], site.two)]);
      return { laptop, phone, devices };
    },
  };
}

/** Resolves to the next transfer that is offered to this client. */
export const offered = (client: BatonClient): Promise<IncomingTransfer> =>
  new Promise((resolve) => {
    client.once('incoming', resolve);
  });

/** Resolves when so many bytes have moved. */
export const progressed = (running: RunningTransfer, bytes: number): Promise<void> =>
  new Promise((resolve) => {
    running.onProgress((progress) => {
      if (progress.bytes >= bytes) resolve();
    });
  });
