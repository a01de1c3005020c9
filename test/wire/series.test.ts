import { append, read, until } from '../relay/support/asking.ts';
import { relayFiles, someBytes } from '../relay/support/relayed.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { ROUTE_NAMES, routeOf, sampleRequest, senderOf } from '../support/samples.ts';
import { scrape } from '../support/scraped.ts';
import { type Site, startSite } from '../support/site.ts';
import { request } from '../support/wire.ts';

/* What one replica costs a Prometheus, after it was asked for everything, rightly and wrongly. */

const MOST_SERIES = 600;

const user = randomUser();
const own = makeDevice({ user, name: 'Laptop' });
const other = makeDevice({ user, name: 'Phone' });
let site: Site;
beforeAll(async () => {
  site = await startSite({}, { alone: true });
  await Promise.all([own, other].map((device) => device.on(site.one).call('getMe')));
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const HOSTILE = { Origin: 'https://evil.example' };

/** Asks for each route correctly, without an identity, from another site, and with an invalid body. */
async function askEverything(): Promise<void> {
  for (const name of ROUTE_NAMES) {
    const sample = sampleRequest(name, { own, other });
    const headers = { ...sample.headers, ...senderOf(name, own).headers };
    const wrong = routeOf(name).body === null ? {} : { body: Buffer.from('{"') };
    for (const change of [{ headers }, {}, { headers: { ...headers, ...HOSTILE } }, { headers, ...wrong }]) {
      await request(site.one, { ...sample, ...change });
    }
  }
}

test(`after every route was asked for, one replica has fewer than ${MOST_SERIES} series`, async () => {
  await askEverything();
  const relayed = await relayFiles(site.one, { sizes: [100_000] });
  const receiver = site.listen(relayed.receiver, site.one);
  await receiver.next('ready');
  await append(relayed, site.one, { offset: 0, body: someBytes(100_000), complete: true });
  await read(relayed, site.one);
  await relayed.receiver.on(site.one).call('completeTransfer', { params: { transfer_id: relayed.id } });
  await until(async () => (await scrape(site.one)).has('baton_transfers_total{state="DONE"}'));
  expect((await scrape(site.one)).size).toBeLessThan(MOST_SERIES);
});
