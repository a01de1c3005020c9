import { randomUUID } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Deletion, MaybeProof } from '../../../shared/contract/modules/keys.ts';
import type { sessionRoutes } from '../../../shared/contract/modules/sessions.ts';
import type { Call, HandlersOf } from '../http/handler.ts';
import { credentialOf, sessionCookieName, shownBy } from '../identity/credentials/credentials.ts';
import type { Caller } from '../identity/caller.ts';
import { isDeviceId } from '../identity/device-id.ts';
import { localPath } from './return-to.ts';
import { type SessionCookie, sessionAnswer } from './session-answer.ts';
import type { Issued, Sessions } from './sessions.ts';

interface SessionHandlerParts {
  sessions: Sessions;
  /** Resolves to null if the account may be erased. Else the erasure is announced. */
  allowErase: (caller: Caller, asked: MaybeProof) => Promise<Deletion | null>;
  cookie: SessionCookie;
  /** Origin of the service. */
  publicUrl: string;
  /** The URL at which a browser logs in; null if there is no login. */
  loginUrl: string | null;
}

type SessionHandlers = HandlersOf<typeof sessionRoutes>;

export function makeSessionHandlers(parts: SessionHandlerParts): SessionHandlers {
  const { sessions, allowErase, cookie, publicUrl, loginUrl } = parts;
  const cookieName = sessionCookieName(publicUrl);

  const given = ({ issued, device }: Issued, { res }: Pick<Call<typeof sessionRoutes.logOut>, 'res'>) => {
    cookie.give(res, issued.cookie);
    return { status: 200 as const, body: sessionAnswer(issued, device) };
  };

  const removing = async ({ caller, params }: Call<typeof sessionRoutes.removeSession>) => {
    const isOver = !isDeviceId(params.device_id) || (await sessions.remove(caller, params.device_id));
    return { status: isOver ? (204 as const) : (202 as const) };
  };

  return {
    logIn: ({ query, res }) => {
      if (loginUrl === null) throw new BatonError('broker_unavailable', 'There is no auth broker here');
      const target = new URL(loginUrl);
      target.searchParams.set('return_to', publicUrl + localPath(query.return_to ?? '/', publicUrl));
      res.setHeader('Location', target.href);
      return { status: 302 };
    },

    startDeviceSession: async ({ caller, body, res }) =>
      given(await sessions.start(caller, body, randomUUID()), { res }),

    refreshSession: async ({ body, req, res }) => {
      const credential = body.credential ?? credentialOf(req, cookieName);
      if (credential === null) throw new BatonError('unauthenticated');
      return given(await sessions.refresh(credential), { res });
    },

    logOut: async ({ caller, req, res }) => {
      await sessions.logOut(caller, shownBy(req, cookieName));
      cookie.clear(res);
      return { status: 204 };
    },

    listSessions: async ({ caller }) => ({ status: 200, body: await sessions.list(caller) }),
    removeSession: removing,
    removeDevice: removing,
    removeOtherSessions: async ({ caller, req }) => ({
      status: 200,
      body: { revoked: await sessions.removeOthers(caller, shownBy(req, cookieName)) },
    }),

    eraseAccount: async ({ caller, body }) => {
      const deletion = await allowErase(caller, body);
      if (deletion !== null) return { status: 202, body: { deletion } };
      await sessions.erase(caller);
      return { status: 204 };
    },
  };
}
