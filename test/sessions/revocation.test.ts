import { eventually } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { startReplica } from '../support/replicas.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { expectProblem, request } from '../support/wire.ts';

interface Sessions {
  stale: boolean;
  sessions: { session_id: string | null; device_id: string; name: string; current: boolean; online: boolean }[];
}

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(() => site.stop());

const remove = (deviceId: string, path = '/api/auth/sessions') => ({ method: 'DELETE', path: `${path}/${deviceId}` });
const ME = { path: '/api/me' };

const pair = async () => {
  const laptop = await site.signIn();
  return { laptop, phone: await site.signIn(laptop.user, { device_name: 'Phone' }) };
};
const listOf = async (device: Awaited<ReturnType<typeof site.signIn>>) =>
  (await device.ask(site.one, { path: '/api/auth/sessions' })).body as Sessions;

test('the listing has every device session with what is known of it here, and none without device', async () => {
  const { laptop, phone } = await pair();
  await site.logIn(laptop.user);
  const stream = phone.listen(site.two);
  await stream.next('ready');
  const { sessions, stale } = await listOf(laptop);

  expect(stale).toBe(false);
  expect(sessions).toHaveLength(2);
  expect(sessions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        device_id: laptop.deviceId,
        name: 'Laptop',
        current: true,
        online: false,
        scope: 'full',
      }),
      expect.objectContaining({
        device_id: phone.deviceId,
        name: 'Phone',
        current: false,
        online: true,
        persist: 'persist',
      }),
    ]),
  );
  await stream.stop();
});

test.each(['/api/auth/sessions', '/api/devices'])(
  'a device removed by %s is out everywhere at once: its streams end, its requests are refused, the others are told',
  async (path) => {
    const { laptop, phone } = await pair();
    const [onPhone, onLaptop] = [phone.listen(site.two), laptop.listen(site.one)];
    await Promise.all([onPhone.next('ready'), onLaptop.next('ready')]);
    await laptop.ask(site.one, {
      method: 'POST',
      path: '/api/message',
      body: { to: 'Phone', content: 'a secret text' },
    });

    const removedAt = performance.now();
    const answer = await laptop.ask(site.one, remove(phone.deviceId, path));
    const ended = await onPhone.next('session:revoked');
    const told = await onLaptop.next('device:removed');
    process.stdout.write(
      `revoked: the stream on the other replica ended after ${Math.round(ended.at - removedAt)} ms\n`,
    );

    expect(answer.status).toBe(204);
    expect(ended.data).toEqual({ reason: 'revoked' });
    expect(ended.at - removedAt).toBeLessThan(10_000);
    expect(told.data).toEqual({ device_id: phone.deviceId, reason: 'removed' });
    for (const replica of [site.one, site.two]) {
      expectProblem(await phone.ask(replica, ME), 'session_revoked');
      expectProblem(await phone.ask(replica, { path: '/api/hub/events' }), 'session_revoked');
    }
    expectProblem(await phone.ask(site.two, { method: 'POST', path: '/api/auth/refresh' }), 'session_revoked');
    expect((await listOf(laptop)).sessions.map(({ name }) => name)).toEqual(['Laptop']);
    expect((await laptop.ask(site.two, { path: '/api/devices' })).body).toMatchObject({
      devices: [{ name: 'Laptop' }],
    });
    const redis = connectTo(sharedRedisUrl());
    expect(await keysHolding(redis, site.prefix, 'a secret text')).toEqual([]);
    redis.disconnect();
    await Promise.all([onPhone.stop(), onLaptop.stop()]);
  },
);

test('its live transfers end, and the other party is told', async () => {
  const { laptop, phone } = await pair();
  const stream = laptop.listen(site.two);
  await stream.next('ready');
  await laptop.ask(site.one, {
    ...{ method: 'POST', path: '/api/transfer/init' },
    body: { to: 'Phone', files: [{ name: 'a.txt', size: 3 }] },
  });
  await laptop.ask(site.one, remove(phone.deviceId));
  const { data } = await stream.next('transfer:updated');

  expect(data.transfer).toMatchObject({ state: 'CANCELLED', error: { code: 'device_removed' } });
  await stream.stop();
});

test('removing twice, a stranger’s device, or one that never was, is 204 and no more', async () => {
  const { laptop, phone } = await pair();
  const stranger = await site.signIn();
  for (const id of [phone.deviceId, phone.deviceId, stranger.deviceId, 'never-was-there']) {
    expect((await laptop.ask(site.one, remove(id))).status).toBe(204);
  }
  expect((await stranger.ask(site.two, ME)).status).toBe(200);
});

// Proves G24.
test('the id of a removed device is never given again', async () => {
  const { laptop, phone } = await pair();
  await laptop.ask(site.one, remove(phone.deviceId));
  const again = await site.signIn(laptop.user, { device_id: phone.deviceId, device_name: 'Phone' });

  expect(again.deviceId).not.toBe(phone.deviceId);
  expect((await again.ask(site.two, ME)).body).toMatchObject({ device: { device_id: again.deviceId, name: 'Phone' } });
});

test('all others go, those without device too where that is not the caller’s own', async () => {
  // Each of them was first a session without a device, which lives on for some minutes.
  const { laptop, phone } = await pair();
  const [login, other] = [await site.logIn(laptop.user), await site.logIn(laptop.user)];
  for (const replica of [site.one, site.two]) expect((await other.ask(replica, ME)).status).toBe(200);
  const answer = await login.ask(site.one, { method: 'DELETE', path: '/api/auth/sessions' });

  expect(answer).toMatchObject({ status: 200, body: { revoked: 5 } });
  for (const replica of [site.one, site.two]) {
    for (const gone of [laptop, phone, other]) {
      // The other replica learns of it a moment later.
      const refusal = await eventually('a refusal', async () => {
        const said = await gone.ask(replica, ME);
        return said.status === 200 ? null : said;
      });
      expectProblem(refusal, 'session_revoked');
    }
    expect((await login.ask(replica, ME)).status).toBe(200);
  }
  const left = await serviceOf(site.broker).list(laptop.user);
  expect(left.map(({ session_id }) => session_id)).toEqual([login.cookie.split('.')[1]]);
});

test('a caller with a device signs out the sessions without device, and their streams end', async () => {
  const laptop = await site.signIn();
  const login = await site.logIn(laptop.user);
  const answer = await laptop.ask(site.one, { method: 'DELETE', path: '/api/auth/sessions' });
  expect((answer.body as { revoked: number }).revoked).toBeGreaterThanOrEqual(1);
  expectProblem(await login.ask(site.two, ME), 'session_revoked');
  expect((await laptop.ask(site.two, ME)).status).toBe(200);
});

test('log-out ends the own session, with its streams', async () => {
  const { laptop, phone } = await pair();
  const stream = phone.listen(site.two);
  await stream.next('ready');
  const answer = await phone.ask(site.one, { method: 'POST', path: '/api/auth/logout' });

  expect(answer.status).toBe(204);
  expect(String(answer.headers['set-cookie'])).toMatch(/^baton=; .*Max-Age=0/);
  expect((await stream.next('session:revoked')).data).toEqual({ reason: 'logout' });
  expectProblem(await phone.ask(site.two, ME), 'session_revoked');
  expect((await listOf(laptop)).sessions.map(({ name }) => name)).toEqual(['Laptop']);
  const login = await site.logIn();
  expect((await login.ask(site.one, { method: 'POST', path: '/api/auth/logout' })).status).toBe(204);
  expectProblem(await login.ask(site.two, ME), 'session_revoked');
  await stream.stop();
});

test('a guest may remove itself and nobody else', async () => {
  const laptop = await site.signIn();
  const guest = await site.signIn(laptop.user, { scope: 'guest', device_name: 'Guest' });
  for (const path of ['/api/auth/sessions', '/api/devices']) {
    expectProblem(await guest.ask(site.one, remove(laptop.deviceId, path)), 'guest_forbidden');
  }
  expect((await guest.ask(site.one, remove(guest.deviceId))).status).toBe(204);
  expectProblem(await guest.ask(site.two, ME), 'session_revoked');
});

// Proves G23.
test('with the broker away a device is out all the same, and the broker is told once it is back', async () => {
  const { laptop, phone } = await pair();
  const stream = phone.listen(site.two);
  await stream.next('ready');
  const bearer = { Cookie: '', Authorization: `Bearer ${phone.answer?.access_token}` };
  // Both replicas know both devices, and believe what the broker said for ten seconds. They do not know the phone's
  // token.
  for (const replica of [site.one, site.two]) {
    for (const device of [laptop, phone]) expect((await device.ask(replica, ME)).status).toBe(200);
    const keysAreKnown = { Cookie: '', Authorization: `Bearer ${laptop.answer?.access_token}` };
    expect((await laptop.ask(replica, { ...ME, headers: keysAreKnown })).status).toBe(200);
  }
  await site.broker.kill();
  const answer = await laptop.ask(site.one, remove(phone.deviceId));
  await stream.next('session:revoked');
  const stale = await laptop.ask(site.one, { path: '/api/auth/sessions' });

  expect(answer.status).toBe(202);
  expect(stale.body).toMatchObject({ stale: true, sessions: [{ name: 'Laptop', scope: null }] });
  for (const replica of [site.one, site.two]) {
    expectProblem(await phone.ask(replica, ME), 'session_revoked');
    expectProblem(await phone.ask(replica, { ...ME, headers: bearer }), 'session_revoked');
  }
  await site.restartBroker();
  await eventually('the broker has been told', async () => {
    const sessions = await serviceOf(site.broker).list(laptop.user);
    return sessions.some(({ meta }) => meta === phone.deviceId) ? null : true;
  });
  await stream.stop();
});

// Proves G20.
test('a revocation outlives the store’s memory of it: replicas that know of it write it back', async () => {
  const { laptop, phone } = await pair();
  await laptop.ask(site.one, remove(phone.deviceId));
  const redis = connectTo(sharedRedisUrl());
  const list = `${site.prefix}:{sys}:revoked`;
  await redis.del(list, `${list}:version`);
  const member = `${phone.user} ${phone.deviceId}`;
  await eventually('it is back', async () => ((await redis.zscore(list, member)) === null ? null : true));
  redis.disconnect();
  const after = await site.startReplica();

  await eventually('the new replica has read it', async () =>
    (await phone.ask(after, ME)).status === 401 ? true : null,
  );
  const again = await site.signIn(laptop.user, { device_id: phone.deviceId });
  expect(again.deviceId).not.toBe(phone.deviceId);
});

describe('a broker that has lost the word and holds what was signed out', () => {
  /** Makes what the broker has then: a live session of a removed device. */
  const comeBack = async () => {
    const { laptop, phone } = await pair();
    await laptop.ask(site.one, remove(phone.deviceId));
    const { cookie } = await serviceOf(site.broker).mint({ subject: laptop.user, meta: phone.deviceId });
    return { laptop, phone, credential: cookie.value };
  };
  const toldAgain = ({ user }: { user: string }, deviceId: string) =>
    eventually('the broker has been told again', async () => {
      const sessions = await serviceOf(site.broker).list(user);
      return sessions.some(({ meta }) => meta === deviceId) ? null : true;
    });

  test('is told again when a listing shows it, and nobody is shown it', async () => {
    const { laptop, phone } = await comeBack();
    expect((await listOf(laptop)).sessions.map(({ name }) => name)).toEqual(['Laptop']);
    await toldAgain(laptop, phone.deviceId);
  });

  test('is told again when somebody renews it, who is refused', async () => {
    const { laptop, phone, credential } = await comeBack();
    const refresh = { method: 'POST', path: '/api/auth/refresh', body: { credential }, headers: { Cookie: '' } };
    expectProblem(await phone.ask(site.two, refresh), 'session_revoked');
    await toldAgain(laptop, phone.deviceId);
  });
});

test('erasing the account’s data keeps the sessions and tells the open streams to start anew', async () => {
  const { laptop, phone } = await pair();
  const stream = phone.listen(site.two);
  await stream.next('ready');
  await laptop.ask(site.one, {
    ...{ method: 'PUT', path: '/api/clipboard' },
    body: { content: 'text of mine', content_type: 'text/plain' },
  });
  await stream.next('clipboard');
  const answer = await laptop.ask(site.one, { method: 'DELETE', path: '/api/me/data' });
  const { data: ready } = await stream.next('ready');

  expect(answer.status).toBe(204);
  expect(ready).toMatchObject({ resumed: false, clipboard: null });
  const redis = connectTo(sharedRedisUrl());
  expect(await keysHolding(redis, site.prefix, 'text of mine')).toEqual([]);
  redis.disconnect();
  expect((await phone.ask(site.two, ME)).body).toMatchObject({ device: { name: 'Phone' } });
  await laptop.ask(site.two, { method: 'POST', path: '/api/message', body: { to: 'Phone', content: 'after' } });
  expect((await stream.next('message')).data.content).toBe('after');
  await stream.stop();
});

test('a removed device is refused also where the identity still vouches for it', async () => {
  const { laptop, phone } = await pair();
  const vouching = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix });
  const headers = { 'X-Dev-User': phone.user, 'X-Dev-Device': phone.deviceId, 'X-Dev-Name': 'Phone' };
  expect((await request(vouching, { ...ME, headers })).status).toBe(200);
  await laptop.ask(site.one, remove(phone.deviceId));

  await eventually('the device is refused', async () => {
    const { status } = await request(vouching, { ...ME, headers });
    return status === 401 ? true : null;
  });
  expectProblem(await request(vouching, { ...ME, headers }), 'session_revoked');
});
