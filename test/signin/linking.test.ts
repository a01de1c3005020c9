import { LIMITS } from '../../shared/contract/limits.ts';
import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { keyed } from '../support/sealed/keyring.ts';
import { cookieOf, type SignedIn, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request } from '../support/wire.ts';
import { approval, ask, type Asked, poll } from './parties.ts';

/* Keys of devices during a sign-in. The service passes them on and cannot use them. */

let site: SignInSite;
let redis: ReturnType<typeof connectTo>;
beforeAll(async () => {
  redis = connectTo(sharedRedisUrl());
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(async () => {
  redis.disconnect();
  await site.stop();
});

const someKeys = () => {
  const { enc, sig } = keyed({ id: 'any' });
  return { enc, sig };
};
const SEALED = Buffer.from('only the new device can open this').toString('base64url');

const look = (device: SignedIn, { requestId, code }: Asked, replica = site.two) =>
  device.ask(replica, { path: `/api/auth/qr/request?request_id=${requestId}&approval_code=${code}` });

async function relink(device: SignedIn, keys: object = someKeys(), replica = site.one): Promise<Asked> {
  const answer = await device.ask(replica, { method: 'POST', path: '/api/auth/qr/relink', body: { keys } });
  expect(answer.status).toBe(201);
  const body = answer.body as { request_id: string; poll_secret: string; qr_payload: string };
  const code = new URL(body.qr_payload).searchParams.get('c') ?? '';
  return { requestId: body.request_id, secret: body.poll_secret, payload: body.qr_payload, code };
}

describe('keys of a new device', () => {
  // Proves G33.
  test('are shown to whoever approves it, and what is sealed for it comes with its session, once', async () => {
    const laptop = await site.signIn();
    const keys = someKeys();
    const asked = await ask(site.one, { keys: { ...keys, more: 'is left out' } });
    expect((await look(laptop, asked)).body).toMatchObject({ keys, device_id: expect.any(String) });
    expect((await laptop.ask(site.one, approval(asked, { sealed: SEALED }))).status).toBe(200);
    expect(await keysHolding(redis, site.prefix, SEALED)).toHaveLength(1);
    const answer = await poll(site.two, asked, 5_000);
    expect(answer.body).toMatchObject({ status: 'approved', sealed: SEALED, scope: 'full' });
    expectProblem(await poll(site.one, asked), 'login_consumed');
    // Neither the sealed content nor the keys are stored anywhere any more.
    for (const text of [SEALED, keys.enc]) expect(await keysHolding(redis, site.prefix, text)).toEqual([]);
  });

  test('of an invite are told to the inviting device', async () => {
    const laptop = await site.signIn();
    const stream = laptop.listen(site.two);
    await stream.next('ready');
    const { body } = await laptop.ask(site.one, { method: 'POST', path: '/api/auth/qr/invite' });
    const keys = someKeys();
    await ask(site.one, { keys, invite: (body as { invite_id: string }).invite_id });
    expect((await stream.next('signin:requested')).data).toMatchObject({ keys });
    await stream.stop();
  });

  test('are not needed: without them every answer is as it was', async () => {
    const laptop = await site.signIn();
    const asked = await ask(site.one);
    expect(Object.keys((await look(laptop, asked)).body as object)).not.toEqual(expect.arrayContaining(['keys']));
    expectProblem(await laptop.ask(site.one, approval(asked, { sealed: SEALED })), 'invalid_request');
    await laptop.ask(site.one, approval(asked));
    const answer = await poll(site.two, asked, 5_000);
    expect(answer.status).toBe(200);
    for (const field of ['sealed', 'keys', 'relink']) expect(answer.body).not.toHaveProperty(field);
  });

  test('that are malformed are refused, and so is what is too long for them', async () => {
    const { enc, sig } = someKeys();
    const offCurve = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url');
    const bad = [
      { enc },
      { enc, sig: 'AAAA' },
      { enc: offCurve, sig },
      { enc, sig: `${sig}=` },
      'keys',
      { enc, sig: 1 },
    ];
    for (const keys of bad) {
      const body = { device_name: 'Phone', device_type: 'browser', keys };
      expectProblem(await request(site.one, { method: 'POST', path: '/api/auth/qr/start', body }), 'invalid_request');
    }
    const laptop = await site.signIn();
    const asked = await ask(site.one, { keys: { enc, sig } });
    const bytes = (length: number) => Buffer.alloc(length, 7).toString('base64url');
    const tooLong = approval(asked, { sealed: bytes(LIMITS.sealedGrantBytes + 1) });
    expectProblem(await laptop.ask(site.one, tooLong), 'body_too_large');
    for (const sealed of ['', 'a+b/', 'AB', 'AAA='])
      expectProblem(await laptop.ask(site.one, approval(asked, { sealed })), 'invalid_request');
    const longest = bytes(LIMITS.sealedGrantBytes);
    expect((await laptop.ask(site.one, approval(asked, { sealed: longest }))).status).toBe(200);
    expect((await poll(site.one, asked, 5_000)).body).toMatchObject({ sealed: longest });
  });
});

describe('a device that is signed in', () => {
  test('gets keys by a request for itself: the session is rotated in place, scope and lifetime stay', async () => {
    const laptop = await site.signIn();
    const phone = await site.signIn(laptop.user);
    const { body: before } = await phone.ask(site.one, { path: '/api/auth/sessions' });
    const keys = someKeys();
    const asked = await relink(phone, keys);
    expect((await look(laptop, asked)).body).toMatchObject({ keys, device_id: phone.deviceId, relink: true });
    // The approver's choice of scope and persistence does not count.
    const wanted = { scope: 'guest', persist: 'once', sealed: SEALED };
    expect((await laptop.ask(site.two, approval(asked, wanted))).status).toBe(200);
    const answer = await poll(site.two, asked, 5_000);
    const session = answer.body as SessionAnswer;
    expect(session).toMatchObject({ sealed: SEALED, scope: 'full', device: { device_id: phone.deviceId } });
    const again = signedIn(laptop.user, cookieOf(answer), session);
    const of = (listed: unknown) =>
      (listed as { sessions: Record<string, unknown>[] }).sessions
        .filter(({ device_id: id }) => id === phone.deviceId)
        .map(({ session_id, scope, persist, name }) => ({ session_id, scope, persist, name }));
    const { body: after } = await again.ask(site.one, { path: '/api/auth/sessions' });
    expect(of(after)).toEqual(of(before));
    // The earlier secrets no longer work.
    expectProblem(await phone.ask(site.two, { path: '/api/me' }), 'unauthenticated');
    expect((await again.ask(site.two, { path: '/api/me' })).status).toBe(200);
  });

  test('and is a guest, or is here for an hour, is shown as that to whoever approves it', async () => {
    const laptop = await site.signIn();
    const [hour, guest, lasting] = [
      await site.signIn(laptop.user, { persist: 'once' }),
      await site.signIn(laptop.user, { scope: 'guest', persist: 'once' }),
      await site.signIn(laptop.user),
    ];
    const shown = async (device: SignedIn) => (await look(laptop, await relink(device))).body;
    expect(await shown(hour)).toMatchObject({ allowed_scopes: ['full'], allowed_persist: ['once'] });
    expect(await shown(guest)).toMatchObject({ allowed_scopes: ['guest'], allowed_persist: ['once'] });
    expect(await shown(lasting)).toMatchObject({ allowed_scopes: ['full'], allowed_persist: ['persist'] });
  });

  test('is approved by its own account alone', async () => {
    const [phone, stranger] = [await site.signIn(), await site.signIn()];
    const asked = await relink(phone);
    expectProblem(await look(stranger, asked), 'not_found');
    expectProblem(await stranger.ask(site.one, approval(asked)), 'not_found');
    expectProblem(
      await stranger.ask(site.one, {
        method: 'POST',
        path: '/api/auth/qr/deny',
        body: { request_id: asked.requestId },
      }),
      'not_found',
    );
    expect((await poll(site.one, asked)).status).toBe(202);
  });

  test('and was signed out meanwhile does not come back by it', async () => {
    const laptop = await site.signIn();
    const phone = await site.signIn(laptop.user);
    const asked = await relink(phone);
    await laptop.ask(site.one, approval(asked, { sealed: SEALED }));
    await laptop.ask(site.one, { method: 'DELETE', path: `/api/devices/${phone.deviceId}` });
    expectProblem(await poll(site.two, asked, 5_000), 'access_denied');
    expect(await keysHolding(redis, site.prefix, SEALED)).toEqual([]);
  });
});
