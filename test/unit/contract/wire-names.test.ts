import { ERRORS } from '../../../shared/contract/errors.ts';
import { EVENTS } from '../../../shared/contract/events.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';

/*
 * The names that clients rely on, as plain text. A name in the code may change, but what goes over the wire must not
 * change with it. If you add something to the wire, add a word here.
 */

const PATHS = `
  DELETE /api/auth/sessions
  DELETE /api/auth/sessions/{device_id}
  DELETE /api/clipboard
  DELETE /api/devices/{device_id}
  DELETE /api/keys
  DELETE /api/me/data
  DELETE /api/push/subscriptions/{subscription_id}
  GET /
  GET /api/auth/login
  GET /api/auth/qr/request
  GET /api/auth/qr/status
  GET /api/auth/sessions
  GET /api/clipboard
  GET /api/devices
  GET /api/docs
  GET /api/hub/events
  GET /api/hub/ice
  GET /api/hub/presence
  GET /api/keys
  GET /api/me
  GET /api/message
  GET /api/openapi.json
  GET /api/push/config
  GET /api/push/subscriptions
  GET /api/relay/{transfer_id}/{index}/{generation}
  GET /api/transfer
  GET /api/transfer/{transfer_id}
  GET /assets/{file}
  GET /favicon.ico
  GET /healthz
  GET /join
  GET /link
  GET /link/plain
  GET /reference/{file}
  GET /share
  GET /sw.js
  HEAD /api/relay/{transfer_id}/{index}/{generation}
  PATCH /api/devices/{device_id}
  PATCH /api/relay/{transfer_id}/{index}/{generation}
  POST /api/auth/device-session
  POST /api/auth/logout
  POST /api/auth/qr/approve
  POST /api/auth/qr/deny
  POST /api/auth/qr/invite
  POST /api/auth/qr/relink
  POST /api/auth/qr/start
  POST /api/auth/refresh
  POST /api/hub/signal
  POST /api/keys/keep
  POST /api/message
  POST /api/message/ack
  POST /api/push/native/register
  POST /api/push/subscribe
  POST /api/push/test
  POST /api/relay/{transfer_id}/{index}/{generation}/ack
  POST /api/transfer/init
  POST /api/transfer/{transfer_id}/accept
  POST /api/transfer/{transfer_id}/cancel
  POST /api/transfer/{transfer_id}/complete
  POST /api/transfer/{transfer_id}/fail
  POST /api/transfer/{transfer_id}/p2p
  POST /api/transfer/{transfer_id}/phase
  POST /api/transfer/{transfer_id}/reject
  POST /api/transfer/{transfer_id}/relay
  POST /link
  POST /share
  PUT /api/clipboard
  PUT /api/keys
  PUT /api/keys/guests
`;

const EVENT_NAMES = `
  clipboard clipboard:cleared degraded device:added device:removed device:renamed keys message message:delivered ping
  presence ready reconnect relay:rewind restored session:revoked signal signin:requested transfer:incoming transfer:updated
`;

const ERROR_CODES = `
  access_denied account_refused already_decided body_too_large broker_contract broker_unavailable clipboard_too_large
  cross_site device_limit device_mismatch device_required draining empty_message endpoint_not_allowed feature_disabled
  guest_forbidden idempotency_key_reused keys_conflict internal invalid_device_name invalid_request invalid_transition login_consumed
  login_expired mailbox_full message_too_large method_not_allowed name_taken not_a_party not_found offset_mismatch
  poll_secret_required range_not_available rate_limited relay_busy reuse_detected scope_not_allowed session_expired
  session_revoked store_full store_unavailable tier_exceeded transfer_limit unauthenticated unsupported_media_type untrusted_edge
  upload_gone upload_length_mismatch window_full
`;

const sorted = (words: string[]): string[] => words.sort();
const linesOf = (text: string): string[] => sorted(text.trim().split(/\n\s*/));
const wordsOf = (text: string): string[] => sorted(text.trim().split(/\s+/));

test('the paths of the route table are those that clients ask for', () => {
  expect(sorted(Object.values(ROUTES).map(({ method, path }) => `${method} ${path}`))).toEqual(linesOf(PATHS));
});

test('the names of events are those that clients listen to', () => {
  expect(sorted(Object.keys(EVENTS))).toEqual(wordsOf(EVENT_NAMES));
});

test('the codes of errors are those that clients look for', () => {
  expect(sorted(Object.keys(ERRORS))).toEqual(wordsOf(ERROR_CODES));
});
