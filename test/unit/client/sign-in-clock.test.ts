import { requestSignIn } from '../../../shared/client/index.ts';
import { meOf } from './answers.ts';

const CODE = 'A'.repeat(22);
const SECRET = 'B'.repeat(43);

/**
 * Makes a service whose clock is this far from the client's. It is away when it is first asked how the request goes.
 */
function serviceWith(aheadMs: number): { fetch: (url: string) => Promise<Response>; asked: () => number } {
  let polls = 0;
  const answer = (status: number, body: object, headers: Record<string, string> = {}): Response =>
    new Response(JSON.stringify(body), {
      status,
      headers: {
        ...{ 'content-type': 'application/json', 'x-api-version': '1' },
        ...{ date: new Date(Date.now() + aheadMs).toUTCString(), ...headers },
      },
    });
  return {
    asked: () => polls,
    async fetch(url) {
      if (url.endsWith('/qr/start')) {
        const expires_at = Date.now() + aheadMs + 60_000;
        const qr_payload = `https://baton.example/link?r=${CODE}&c=${CODE}`;
        return answer(201, { request_id: CODE, poll_secret: SECRET, qr_payload, expires_at });
      }
      if (url.endsWith('/api/me')) return answer(200, meOf());
      polls += 1;
      if (polls === 1)
        return answer(503, { code: 'store_unavailable', status: 503, title: 'away' }, { 'retry-after': '0' });
      const cookie = { 'set-cookie': '__Host-baton=v1.session.secret; HttpOnly; Path=/' };
      const body = {
        ...{ status: 'approved', access_token: 't', token_type: 'Bearer', expires_in: 60, scope: 'full' },
        ...{ persist: 'once', session_expires_at: Date.now() + aheadMs + 60_000 },
        ...{ device: meOf().device, user: { user_id: 'ada', name: 'Ada' } },
      };
      return answer(200, body, cookie);
    },
  };
}

test.each([600_000, 0, -600_000])(
  'a sign-in goes on after a service that was away, with a clock that is %d ms off',
  async (aheadMs) => {
    const service = serviceWith(aheadMs);
    const about = { baseUrl: 'https://baton.example', deviceName: 'Robot', deviceType: 'linux' as const };
    const request = await requestSignIn({ ...about, fetch: service.fetch });
    expect((await request.approved()).device).toEqual(meOf().device);
    expect(service.asked()).toBe(2);
  },
);
