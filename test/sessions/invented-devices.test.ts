import { LIMITS } from '../../shared/contract/limits.ts';
import { type BrokerDoor, startBrokerDoor } from '../support/sign-in/broker-door.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request } from '../support/wire.ts';

/*
 * Devices that never existed are removed while the auth broker cannot say so. Every replica remembers each for a day.
 */

const SECRET = 'an-edge-secret-of-at-least-32-characters';

let site: SignInSite;
let door: BrokerDoor;
let edge: ReplicaProcess;
beforeAll(async () => {
  site = await startSignInSite();
  door = await startBrokerDoor(site.broker);
  const proof = { APP_IDENTITY: 'edge', APP_EDGE_TRUST: 'secret', APP_EDGE_SECRET: SECRET };
  edge = await site.startReplica({ ...proof, APP_BROKER_URL: door.url });
});
afterAll(async () => {
  await site.stop();
  await door.stop();
});

test('one account cannot fill the list of the signed out with devices that it invents', async () => {
  const [laptop, other] = [await site.signIn(), await site.signIn()];
  const by = ({ user, deviceId }: typeof laptop) => ({
    ...{ 'X-Edge-Secret': SECRET, 'X-Auth-Subject': user, 'X-Auth-Scope': 'full', 'X-Auth-Meta': deviceId },
  });
  const remove = (id: string, who = laptop) =>
    request(edge, { method: 'DELETE', path: `/api/devices/${id}`, headers: by(who) });
  door.answer('GET /v1/sessions', async () => ({ status: 503, body: {} }));
  for (let i = 0; i < LIMITS.devicesPerAccount; i++)
    expect([202, 204]).toContain((await remove(`invented-${i}`)).status);
  for (let i = 0; i < 3; i++) expectProblem(await remove(`another-${i}`), 'broker_unavailable');

  const redis = connectTo(sharedRedisUrl());
  const members = await redis.zrange(`${site.prefix}:{sys}:revoked`, '0', '-1');
  redis.disconnect();
  expect(members.filter((member) => member.startsWith(`${laptop.user} `))).toHaveLength(LIMITS.devicesPerAccount);
  // No other user is refused, nor are its own devices, which have rows.
  expect([202, 204]).toContain((await remove('lost-device-01', other)).status);
  expect([202, 204]).toContain((await remove(laptop.deviceId)).status);
  door.open();
});
