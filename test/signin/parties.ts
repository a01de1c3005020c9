import { request, type WireAnswer } from '../support/wire.ts';

type Target = { url: string };

/** The secrets that a new device shows and keeps. */
export interface Asked {
  requestId: string;
  code: string;
  secret: string;
  payload: string;
}

export async function ask(replica: Target, fields: object = {}, headers: Record<string, string> = {}): Promise<Asked> {
  const answer = await request(replica, {
    ...{ method: 'POST', path: '/api/auth/qr/start', headers },
    body: { device_name: 'Phone', device_type: 'browser', ...fields },
  });
  if (answer.status !== 201) throw new Error(`qr/start: ${answer.text}`);
  const body = answer.body as { request_id: string; poll_secret: string; qr_payload: string };
  const url = new URL(body.qr_payload);
  return {
    ...{ requestId: body.request_id, secret: body.poll_secret, payload: body.qr_payload },
    code: url.searchParams.get('c') ?? '',
  };
}

export const poll = (
  replica: Target,
  { requestId, secret }: Pick<Asked, 'requestId' | 'secret'>,
  waitMs = 0,
): Promise<WireAnswer> =>
  request(replica, {
    path: `/api/auth/qr/status?request_id=${requestId}&wait_ms=${waitMs}`,
    headers: { 'X-Poll-Secret': secret },
  });

export const approval = ({ requestId, code }: Asked, fields: object = {}) => ({
  ...{ method: 'POST', path: '/api/auth/qr/approve' },
  body: { request_id: requestId, approval_code: code, scope: 'full', persist: 'once', ...fields },
});

export const denial = ({ requestId, code }: Asked) => ({
  ...{ method: 'POST', path: '/api/auth/qr/deny' },
  body: { request_id: requestId, approval_code: code },
});

/** Returns an answer without the parts that differ from request to request. */
export const shapeOf = ({ status, headers, body }: WireAnswer) => ({
  status,
  type: headers['content-type'],
  body: { ...(body as object), request_id: '' },
});
