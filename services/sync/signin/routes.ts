import type { IncomingMessage, ServerResponse } from 'node:http';
import { BatonError, type ErrorCode } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { signinRoutes } from '../../../shared/contract/modules/signin.ts';
import type { HandlersOf } from '../http/handler.ts';
import { type SessionCookie, sessionAnswer } from '../sessions/session-answer.ts';
import { askPage, outcomePage } from './approval/link-page.ts';
import type { Signin } from './signin.ts';
import { coarseAddress, describeAgent } from './approval/source.ts';

/** The form of a poll secret: 256 random bits, in base64url. */
const POLL_SECRET = /^[\w-]{43}$/;

/** When a poll that may not wait should come again: twelve times a minute, of the sixty that an address may make. */
const BUSY_SECONDS = 5;

/** Sentences for the user, in place of a problem document. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  not_found: 'This code is not known, or it has expired. Show a new one on the other device.',
  login_expired: 'The time of this code is over. Show a new one on the other device.',
  login_consumed: 'This code was used already.',
  already_decided: 'This was decided already.',
  rate_limited: 'Too many wrong codes were tried. Show a new one on the other device.',
  guest_forbidden: 'You are here as a guest, and a guest cannot sign in other devices.',
  tier_exceeded: 'Your own session ends by itself. Let the other device in for one hour.',
  scope_not_allowed: 'An app can only be signed in with everything that you may do.',
};

interface SigninHandlerParts {
  signin: Signin;
  cookie: SessionCookie;
  clientAddress: (req: IncomingMessage) => string;
}

function pollSecretOf(req: IncomingMessage): string {
  const sent = req.headersDistinct['x-poll-secret'];
  if (sent?.length === 1 && POLL_SECRET.test(sent[0] ?? '')) return sent[0] as string;
  throw new BatonError('poll_secret_required');
}

function show(res: ServerResponse, status: number, html: string): null {
  res.statusCode = status;
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Length', Buffer.byteLength(html));
  res.end(html);
  return null;
}

/** Shows a refusal as a page, and rethrows other errors. */
async function orExplain(res: ServerResponse, work: () => Promise<null>): Promise<null> {
  try {
    return await work();
  } catch (error) {
    const sentence = error instanceof BatonError ? SENTENCES[error.code] : undefined;
    if (!(error instanceof BatonError) || sentence === undefined) throw error;
    return show(res, error.status, outcomePage(error.message, sentence));
  }
}

/** Makes the handlers of the page that asks without a client script, and of its form. */
const linkHandlers = (signin: Signin): Pick<HandlersOf<typeof signinRoutes>, 'openLink' | 'decideLink'> => ({
  openLink: ({ caller, query, res }) =>
    orExplain(res, async () => {
      if (caller.scope !== 'full') throw new BatonError('guest_forbidden');
      const [requestId, code] = [query.r ?? '', query.c ?? ''];
      const view = await signin.read(caller, requestId, code);
      return show(res, 200, askPage({ view, code, userName: caller.name }));
    }),

  decideLink: ({ caller, body, operation, res }) =>
    orExplain(res, async () => {
      const { request_id, approval_code, decision, scope = 'guest', persist = 'once' } = body;
      if (decision === 'deny') {
        await signin.deny(caller, request_id, approval_code, operation);
        return show(res, 200, outcomePage('Denied', 'The other device stays out.'));
      }
      if (caller.scope !== 'full') throw new BatonError('guest_forbidden');
      await signin.approve(caller, { request_id, approval_code, scope, persist }, operation);
      return show(
        res,
        200,
        outcomePage('Approved', 'The other device is being signed in. You find it among your devices.'),
      );
    }),
});

export function makeSigninHandlers(parts: SigninHandlerParts): HandlersOf<typeof signinRoutes> {
  const { signin, cookie, clientAddress } = parts;
  const sourceOf = (req: IncomingMessage) => ({
    address: coarseAddress(clientAddress(req)),
    agent: describeAgent(req.headers['user-agent'] ?? ''),
  });

  return {
    startLogin: async ({ body, req }) => ({ status: 201, body: await signin.start(body, sourceOf(req)) }),

    relinkLogin: async ({ caller, body, req }) => ({
      status: 201,
      body: await signin.relink(caller, body.keys, sourceOf(req)),
    }),

    inviteLogin: async ({ caller }) => ({ status: 201, body: await signin.invite(caller) }),

    pollLogin: async ({ query, req, res }) => {
      const gone = new AbortController();
      res.once('close', () => gone.abort());
      if (res.destroyed) gone.abort();
      const { request_id: requestId, wait_ms: waitMs = LIMITS.pollMs } = query;
      const [pollSecret, address] = [pollSecretOf(req), clientAddress(req)];
      const outcome = await signin.poll({ requestId, pollSecret, waitMs, address, signal: gone.signal });
      if ('pending' in outcome) {
        if (outcome.isBusy) res.setHeader('Retry-After', BUSY_SECONDS);
        return { status: 202, body: { status: 'pending', expires_at: outcome.pending.expiresAtMs } };
      }
      const { sealed } = outcome;
      const { issued, device } = outcome.issued;
      cookie.give(res, issued.cookie);
      const answer = { status: 'approved' as const, ...(sealed !== undefined && { sealed }) };
      return { status: 200, body: { ...answer, ...sessionAnswer(issued, device) } };
    },

    readLogin: async ({ caller, query }) => ({
      status: 200,
      body: await signin.read(caller, query.request_id, query.approval_code),
    }),

    approveLogin: async ({ caller, body, operation }) => {
      await signin.approve(caller, body, operation);
      return { status: 200, body: { status: 'approved' } };
    },

    denyLogin: async ({ caller, body, operation }) => {
      await signin.deny(caller, body.request_id, body.approval_code, operation);
      return { status: 200, body: { status: 'denied' } };
    },

    ...linkHandlers(signin),
  };
}
