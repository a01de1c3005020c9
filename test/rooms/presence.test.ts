import type { Presence, PresenceEntry } from '../../shared/contract/presence.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { sharedRedisUrl } from '../support/redis.ts';
import { type ReplicaProcess, startReplica } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';
import type { Recorder } from '../support/stream-recorder.ts';
import { request } from '../support/wire.ts';

const GRACE_MS = 700;
const SECRET = 'an edge secret of thirty-two characters or more'.replaceAll(' ', '-');

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_HUB_OFFLINE_GRACE_MS: String(GRACE_MS) });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const presenceOf = async (device: TestDevice, replica = site.one): Promise<Presence> =>
  (await device.on(replica).call('getPresence')).body;

const entryOf = ({ devices }: Presence, name: string): PresenceEntry | undefined => devices.find((entry) => entry.name === name);

/** Every snapshot that the stream was given, `ready` first. */
const snapshotsIn = (stream: Recorder): Presence[] =>
  stream.events.flatMap((event) => (event.name === 'presence' ? [event.data] : event.name === 'ready' ? [event.data.presence] : []));

const nextWith = (stream: Recorder, match: (presence: Presence) => boolean) => stream.next('presence', ({ data }) => match(data));
const onlineIs = (name: string, online: boolean) => (presence: Presence) => entryOf(presence, name)?.online === online;

async function openStream(device: TestDevice, replica: ReplicaProcess): Promise<Recorder> {
  const stream = site.listen(device, replica);
  await stream.next('ready');
  return stream;
}

describe('a device that connects', () => {
  test('is seen online by the others, also those of the other replica', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const watcher = await openStream(laptop, site.one);
    await openStream(phone, site.two);
    const { data } = await nextWith(watcher, onlineIs('Phone', true));
    expect(data.devices).toEqual([
      { device_id: laptop.id, name: 'Laptop', type: 'linux', online: true, last_seen_at: expect.any(Number) },
      { device_id: phone.id, name: 'Phone', type: 'linux', online: true, last_seen_at: expect.any(Number) },
    ]);
    for (const replica of [site.one, site.two]) expect(await presenceOf(laptop, replica)).toEqual(data);
  });

  test('is told in its own first event who is there, itself included', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await openStream(laptop, site.one);
    const { data } = await site.listen(phone, site.two).next('ready');
    expect(data.presence.devices.map(({ name, online }) => [name, online])).toEqual([['Laptop', true], ['Phone', true]]);
  });

  test('is announced again at each connect, with a higher version, so that a waiting sender sees it', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const watcher = await openStream(laptop, site.one);
    const { data: first } = await nextWith(watcher, () => (void site.listen(phone, site.two), false) || onlineIs('Phone', true)(first0));
    void first;
  });
});
