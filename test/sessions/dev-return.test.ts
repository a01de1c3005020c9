import { misfit } from '../../shared/client/http/misfit.ts';
import { formOf } from '../../shared/contract/forms.ts';
import { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { recordStream } from '../support/stream-recorder.ts';
import { expectProblem, request } from '../support/wire.ts';

/* A removed device of the development identity stays out by itself, and comes back when somebody asks for it. */

let site: SignInSite;
let alone: ReplicaProcess;
let withBroker: ReplicaProcess;
beforeAll(async () => {
  site = await startSignInSite();
  [alone, withBroker] = await Promise.all([
    site.startReplica({ APP_IDENTITY: 'dev', APP_BROKER_URL: '', APP_BROKER_TOKEN: '' }),
    site.startReplica({ APP_IDENTITY: 'dev' }),
  ]);
});
afterAll(() => site.stop());

const signIn = (replica: ReplicaProcess, user: string, fields: object) =>
  request(replica, {
    ...{ method: 'POST', path: '/api/auth/device-session', headers: { 'X-Dev-User': user } },
    body: { device_name: 'Laptop', device_type: 'browser', ...fields },
  });

async function removed(replica: ReplicaProcess): Promise<TestDevice> {
  const device = makeDevice({ user: randomUser(), name: 'Laptop' });
  const stream = recordStream({ baseUrl: replica.url, headers: device.headers });
  await stream.next('ready');
  await request(replica, { method: 'DELETE', path: `/api/devices/${device.id}`, headers: device.headers });
  expect((await stream.next('session:revoked')).data).toEqual({ reason: 'revoked' });
  await stream.stop();
  return device;
}

describe.each([['without an auth broker'], ['with one']])('%s', (kind) => {
  const replicaOf = () => (kind === 'with one' ? withBroker : alone);

  test('what goes on by itself is refused, and a sign-in gets a new id, under which the device is there again', async () => {
    const [replica, device] = [replicaOf(), await removed(replicaOf())];
    for (const path of ['/api/me', '/api/hub/events']) {
      expectProblem(await request(replica, { path, headers: device.headers }), 'session_revoked');
    }
    const answer = await signIn(replica, device.user, { device_id: device.id });
    const { device: back, user, persist, scope } = answer.body as SessionAnswer;
    expect(answer.status).toBe(200);
    expect({ persist, scope, user: user.user_id }).toEqual({ persist: 'persist', scope: 'full', user: device.user });
    expect(back).toMatchObject({ name: 'Laptop', type: 'browser' });
    expect(back?.device_id).not.toBe(device.id);

    const headers = { 'X-Dev-User': device.user, 'X-Dev-Device': back?.device_id ?? '' };
    expect((await request(replica, { path: '/api/me', headers })).body).toMatchObject({ device: back });
    const { devices } = (await request(replica, { path: '/api/devices', headers })).body as { devices: object[] };
    expect(devices).toMatchObject([{ device_id: back?.device_id, name: 'Laptop' }]);
    // The earlier device stays out.
    expectProblem(await request(replica, { path: '/api/me', headers: device.headers }), 'session_revoked');
  });

  test('an id that was not removed is kept, and a taken name gets a suffix', async () => {
    const user = randomUser();
    const first = await signIn(replicaOf(), user, { device_id: 'laptop-0001' });
    const second = await signIn(replicaOf(), user, { device_id: 'laptop-0002' });
    expect(first.body).toMatchObject({ device: { device_id: 'laptop-0001', name: 'Laptop' } });
    expect(second.body).toMatchObject({ device: { device_id: 'laptop-0002', name: 'Laptop 2' } });
  });

  test.each(['once', 'persist'])('the answer of a session for %s is one that clients take', async (persist) => {
    const { body } = await signIn(replicaOf(), randomUser(), { device_id: 'laptop-0001', persist });
    expect(body).toMatchObject({ persist });
    expect(misfit(formOf(SessionAnswer), body)).toBeNull();
  });

  test('what is wrong with it is refused, and a guest gets no device', async () => {
    const user = randomUser();
    expectProblem(await signIn(replicaOf(), user, { device_id: 'short' }), 'invalid_request');
    expectProblem(
      await signIn(replicaOf(), user, { device_id: 'laptop-0001', device_name: '*' }),
      'invalid_device_name',
    );
    const asGuest = await request(replicaOf(), {
      ...{ method: 'POST', path: '/api/auth/device-session', headers: { 'X-Dev-User': user, 'X-Dev-Scope': 'guest' } },
      body: { device_id: 'laptop-0001', device_name: 'Laptop', device_type: 'browser' },
    });
    expectProblem(asGuest, 'guest_forbidden');
  });
});

test('without an auth broker the answer sets no cookie', async () => {
  const answer = await signIn(alone, randomUser(), { device_id: 'laptop-0001' });
  expect(answer.status).toBe(200);
  expect(answer.headers['set-cookie']).toBeUndefined();
});
