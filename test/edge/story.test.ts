import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { closeRawStreams, openRawStream, type RawStream } from '../support/raw-stream.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { expectProblem, request, type WireAnswer, type WireRequest } from '../support/wire.ts';
import { approval, ask, poll } from '../signin/parties.ts';
import { type EdgeKind, isInstalled } from './edges.ts';
import { type EdgeSite, startEdgeSite } from './edge-site.ts';

/*
 * A stranger with a laptop and a phone goes from nothing to two signed-in devices and back. It happens through the
 * public port alone, with the shipped edge, the real broker, two replicas with `APP_IDENTITY=edge`, and every limit in
 * force.
 */

const KINDS: EdgeKind[] = ['nginx', 'caddy'];
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1';

const cookieOf = ({ headers }: WireAnswer): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';

/** Returns the replica that a stream is on. */
const serverOf = async (stream: RawStream): Promise<string> =>
  /"server_id":"([^"]+)"/.exec(await stream.until(/event: ready\n.*\n\n/))?.[1] ?? '';

/** Opens a stream on another replica than that one. The edge gives each stream to the replica with fewer. */
async function openElsewhere(edge: { url: string }, headers: Record<string, string>, server: string) {
  for (let attempt = 0; attempt < 5; attempt++) {
    const stream = await openRawStream(edge, headers);
    if ((await serverOf(stream)) !== server) return stream;
    stream.close();
  }
  throw new Error('the edge gave five streams to one replica');
}

for (const kind of KINDS) {
  skipUnless(isInstalled(kind), `needs ${kind}`).describe(`through ${kind}`, () => {
    let site: EdgeSite;
    beforeAll(async () => {
      // The pings are rare, because a ping would show a replica sooner than the edge that somebody has gone.
      site = await startEdgeSite(kind, { APP_RATE_LIMIT_SCALE: '1', APP_HUB_HEARTBEAT_MS: '60000' });
    });
    afterEach(closeRawStreams);
    afterAll(() => site.stop());

    const send = (what: WireRequest, cookie = ''): Promise<WireAnswer> =>
      request(site.edge, {
        ...what,
        headers: { Origin: site.edge.url, ...(cookie !== '' && { Cookie: cookie }), ...what.headers },
      });

    /** Acts like a browser: the cookie of the login becomes that of a device. */
    async function signIn(user: string, deviceId: string, deviceName: string) {
      const login = await send({ method: 'POST', path: '/login/dev', form: { user } });
      const body = { device_id: deviceId, device_name: deviceName, device_type: 'browser' };
      const answer = await send({ method: 'POST', path: '/api/auth/device-session', body }, cookieOf(login));
      expect([login.status, answer.status]).toEqual([303, 200]);
      return { cookie: cookieOf(answer), answer: answer.body as SessionAnswer };
    }

    test('a laptop signs in a phone by its code, both are reached on different replicas, and the phone is signed out', async () => {
      const laptop = await signIn(`eve-${kind}`, 'laptop-of-eve', 'Laptop');
      const onLaptop = await openRawStream(site.edge, { Cookie: laptop.cookie });
      const laptopServer = await serverOf(onLaptop);

      // The phone knows nobody, and shows a code of the public address.
      const asked = await ask(site.edge, { device_name: 'Phone', device_type: 'browser' }, { 'User-Agent': PHONE });
      expect(asked.payload).toBe(`${site.edge.url}/link?r=${asked.requestId}&c=${asked.code}`);
      const waiting = poll(site.edge, asked, 25_000);

      // The laptop opens it, sees what it is about, and lets the phone in.
      const page = await send({ path: `/link/plain?r=${asked.requestId}&c=${asked.code}` }, laptop.cookie);
      expect(page.status).toBe(200);
      for (const word of ['ANOTHER device', 'Phone', 'Safari on iOS', '127.0.0.0/24'])
        expect(page.text).toContain(word);
      const approved = await send(approval(asked, { persist: 'persist' }), laptop.cookie);
      expect([approved.status, approved.body]).toEqual([200, { status: 'approved' }]);

      // The phone has a cookie, a token and a device of its own, once.
      const given = await waiting;
      expect(given.status).toBe(200);
      const phone = { cookie: cookieOf(given), answer: given.body as SessionAnswer };
      const phoneId = phone.answer.device?.device_id ?? '';
      expect(phone.cookie).toMatch(/^baton=v1\./);
      expect(phone.cookie.split('.')[1]).not.toBe(laptop.cookie.split('.')[1]);
      expect(phone.answer.access_token).not.toBe(laptop.answer.access_token);
      expectProblem(await poll(site.edge, asked), 'login_consumed');
      const bearer = { Authorization: `Bearer ${phone.answer.access_token}` };
      for (const me of [
        await send({ path: '/api/me' }, phone.cookie),
        await send({ path: '/api/me', headers: bearer }),
      ])
        expect(me.body).toMatchObject({ user_id: `eve-${kind}`, scope: 'full', device: { device_id: phoneId } });
      await onLaptop.until(new RegExp(`event: device:added\\ndata: .*"${phoneId}"`));

      // Each device hears the other from another replica.
      const onPhone = await openElsewhere(site.edge, { Cookie: phone.cookie }, laptopServer);
      const say = (to: string, content: string) => ({ method: 'POST', path: '/api/message', body: { to, content } });
      expect((await send(say('Phone', 'from the laptop'), laptop.cookie)).status).toBe(201);
      await onPhone.until(/event: message\ndata: .*from the laptop/);
      expect((await send({ ...say('Laptop', 'from the phone'), headers: bearer })).status).toBe(201);
      await onLaptop.until(/event: message\ndata: .*from the phone/);

      // The phone is lost.
      const startedAt = performance.now();
      const path = `/api/auth/sessions/${phoneId}`;
      expect((await send({ method: 'DELETE', path }, laptop.cookie)).status).toBe(204);
      expect(await onPhone.ended()).toMatch(/event: session:revoked\ndata: {"reason":"revoked"}\n\n$/);
      process.stdout.write(`revoked through ${kind}: ended after ${Math.round(performance.now() - startedAt)} ms\n`);
      await onLaptop.until(new RegExp(`event: device:removed\\ndata: .*"${phoneId}"`));
      expectProblem(await send({ path: '/api/me' }, phone.cookie), 'unauthenticated');
      expectProblem(await send({ path: '/api/me', headers: bearer }), 'unauthenticated');
      expectProblem(await send({ method: 'POST', path: '/api/auth/refresh' }, phone.cookie), 'session_revoked');
      expect((await send({ path: '/api/devices' }, laptop.cookie)).body).toMatchObject({
        devices: [{ name: 'Laptop', current: true, online: true }],
      });
    });

    test('a device that closes its stream is soon seen to be gone', async () => {
      const laptop = await signIn(`gone-${kind}`, 'laptop-of-gone', 'Laptop');
      const phone = await signIn(`gone-${kind}`, 'phone-of-gone', 'Phone');
      const [onLaptop, onPhone] = await Promise.all([
        openRawStream(site.edge, { Cookie: laptop.cookie }),
        openRawStream(site.edge, { Cookie: phone.cookie }),
      ]);
      await onPhone.until(/event: ready\n/);
      await onLaptop.until(
        /event: (ready|presence)\ndata: .*"phone-of-gone","name":"Phone","type":"browser","online":true/,
      );
      onPhone.close();
      const gone = /event: presence\ndata: .*"phone-of-gone","name":"Phone","type":"browser","online":false.*\n\n$/;
      expect(await onLaptop.until(gone)).toMatch(gone);
    });

    test('an old cookie that is used after its time ends the streams of whoever has the new one', async () => {
      const laptop = await signIn(`old-${kind}`, 'laptop-of-old', 'Laptop');
      const refresh = (cookie: string) => send({ method: 'POST', path: '/api/auth/refresh' }, cookie);
      const newer = cookieOf(await refresh(laptop.cookie));
      const stream = await openRawStream(site.edge, { Cookie: newer });
      await stream.until(/event: ready\n/);
      // The grace is a minute. The broker's store now says that it is over.
      const [, id = ''] = newer.split('.');
      const [key = ''] = await site.redis.keys(`*:session:${id}`);
      const retired = (await site.redis.hget(key, 'retired')) ?? '';
      await site.redis.hset(key, 'retired', retired.replace(/:\d*$/, ':1'));
      expectProblem(await refresh(laptop.cookie), 'reuse_detected');
      expect(await stream.ended()).toMatch(/event: session:revoked\ndata: {"reason":"expired"}\n\n$/);
      expectProblem(await send({ path: '/api/me' }, newer), 'unauthenticated');
    });
  });
}
