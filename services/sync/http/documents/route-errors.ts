import { ERRORS, type ErrorCode } from '../../../../shared/contract/errors.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { isEventStream } from '../../../../shared/service-kit/http/request-context.ts';

/** The codes that follow from the fields of a row, and when. The row itself names the codes that its handler adds. */
const IMPLIED: readonly [(route: Route) => boolean, readonly ErrorCode[]][] = [
  // `invalid_request`: a path that is not percent-encoded, or a foreign host on a replica that serves only its own machine.
  [() => true, ['internal', 'invalid_request']],
  [
    (route) => route.identity === 'caller',
    ['unauthenticated', 'untrusted_edge', 'session_revoked', 'account_refused', 'invalid_request'],
  ],
  // The stream itself reports overload and a missing store: a native EventSource gives up after a status other than 200.
  [
    (route) => route.identity === 'caller' && !isEventStream(route),
    ['store_unavailable', 'store_full', 'broker_unavailable'],
  ],
  [({ scope }) => scope !== 'any', ['guest_forbidden']],
  [({ device }) => device === 'required', ['device_required']],
  [({ sameOrigin }) => sameOrigin, ['cross_site']],
  [({ params }) => params !== null, ['not_found']],
  [({ query, idempotent }) => query !== null || idempotent, ['invalid_request']],
  [({ body }) => body !== null, ['invalid_request', 'body_too_large', 'unsupported_media_type']],
  [(route) => route.rate !== null && !isEventStream(route), ['rate_limited', 'store_unavailable', 'store_full']],
  [({ idempotent }) => idempotent, ['idempotency_key_reused']],
];

/** Returns every code that a route can answer, by status and then in the order of the registry. */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set([...IMPLIED.flatMap(([when, implied]) => (when(route) ? implied : [])), ...route.errors]);
  const all = Object.keys(ERRORS) as ErrorCode[];
  // A browser that asks for a page without a session is sent to the login.
  const sendsAway = route.loginRedirect && route.method === 'GET';
  return all
    .filter((code) => codes.has(code) && !(sendsAway && ERRORS[code].status === 401))
    .sort((a, b) => ERRORS[a].status - ERRORS[b].status);
}
