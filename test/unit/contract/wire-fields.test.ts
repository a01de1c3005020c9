import { brokerRoutes } from '../../../shared/contract/modules/broker.ts';
import { statusesOf, type ErrorCode, ERRORS } from '../../../shared/contract/errors.ts';
import { EVENTS } from '../../../shared/contract/events.ts';
import { DEVICE_TYPES } from '../../../shared/contract/vocabulary/fields.ts';
import { NATIVE_PLATFORMS, PREVIEWS } from '../../../shared/contract/modules/push.ts';
import { RATES } from '../../../shared/contract/rates.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { REVOKED_REASONS } from '../../../shared/contract/modules/sessions.ts';
import { RECONNECT_REASONS, RESET_REASONS } from '../../../shared/contract/modules/stream.ts';
import { TRANSFER_STATES, TransferPhase } from '../../../shared/contract/modules/transfers.ts';

/*
 * The fields that clients read and write, as plain text, beside the names in wire-names.test.ts. A line is
 * `<method> <path> ? <query> < <body> > <status> <answer>`; `x?` may be absent, `x|null` may be null, `x[...]` is a list
 * and `x{...}` an object.
 */

const TRANSFER = `transfer_id state mode phase sender{device_id name} receiver{device_id name} files?[index name size type|null \
  sha256|null modified_at?] file_count total_bytes sealed|null progress{sent_bytes received_bytes} error{code \
  detail|null by_device_id|null}|null uploads?[index upload_url offset] downloads?[index download_url] created_at updated_at \
  expires_at`;
const SESSION = `access_token token_type expires_in scope persist session_expires_at device{device_id name type}|null \
  user{user_id name}`;
const ISSUED = `session_id subject meta label scope tier persist created_at expires_at cookie{name value \
  max_age_seconds|null} access_token expires_in user{user_id name}`;
const PRESENCE = `version devices[device_id|null name type|null online last_seen_at|null]`;
const DEVICE = `device_id name type online current created_at last_seen_at|null`;
const CLIPBOARD = `content sealed? content_type|null source_device_id|null source_device_name|null updated_at|null expires_at|null`;

const OF_ROUTES = `
  DELETE /api/auth/sessions > 200 revoked
  DELETE /api/auth/sessions/{device_id} > 202 > 204
  DELETE /api/clipboard > 204
  DELETE /api/devices/{device_id} > 202 > 204
  DELETE /api/keys < device_id? n? signature? > 202 deletion{of at} > 204
  DELETE /api/me/data < device_id? n? signature? > 202 deletion{of at} > 204
  DELETE /api/push/subscriptions/{subscription_id} > 204
  GET / > 200
  GET /api/auth/login ? return_to? > 302
  GET /api/auth/qr/request ? request_id approval_code > 200 request_id device_name device_type source{address \
    user_agent} expires_at device_id keys?{enc sig} relink? age_seconds allowed_scopes[] allowed_persist[]
  GET /api/auth/qr/status ? request_id wait_ms? > 200 status sealed? ${SESSION} > 202 status expires_at
  GET /api/auth/sessions > 200 sessions[session_id|null device_id name type|null scope|null persist|null online \
    current created_at|null last_active_at|null expires_at|null] stale
  GET /api/clipboard > 200 ${CLIPBOARD}
  GET /api/devices > 200 devices[${DEVICE}]
  GET /api/docs > 200
  GET /api/hub/events ? last_event_id? name? > 200
  GET /api/hub/ice > 200 ice_servers[urls[] username? credential?] ttl_seconds
  GET /api/hub/presence > 200 ${PRESENCE}
  GET /api/keys ? after? > 200 rings[] n guests|null deletions[of at]
  GET /api/me > 200 user_id name scope roles[] service? origins?[] device{device_id name type}|null limits{message_bytes clipboard_bytes \
    clipboard_seconds relay_window_bytes sealed_message_bytes? sealed_clipboard_bytes?} features{qr web_push native_push sealed? relay_preferred?}
  GET /api/message > 200 messages[message_id from_device_id|null from_name content sealed? created_at redelivered]
  GET /api/openapi.json > 200 openapi
  GET /api/push/config > 200 vapid_public_key|null vapid_key_id|null native[]
  GET /api/push/subscriptions > 200 subscriptions[subscription_id device_id platform state created_at last_ok_at|null]
  GET /api/relay/{transfer_id}/{index}/{generation} > 200 > 206
  GET /api/transfer ? state? limit? cursor? > 200 transfers[${TRANSFER}] next_cursor|null
  GET /api/transfer/{transfer_id} > 200 transfer{${TRANSFER}}
  GET /assets/{file} > 200
  GET /favicon.ico > 200
  GET /healthz > 200 status
  GET /join > 200
  GET /link > 200
  GET /link/plain ? r? c? > 200 > 302
  GET /reference/{file} > 200
  GET /share > 303
  GET /sw.js > 200
  HEAD /api/relay/{transfer_id}/{index}/{generation} > 204
  PATCH /api/devices/{device_id} < name > 200 device{${DEVICE}}
  PATCH /api/relay/{transfer_id}/{index}/{generation} > 204
  POST /api/auth/device-session < device_id device_name device_type scope? persist? > 200 ${SESSION}
  POST /api/auth/logout > 204
  POST /api/auth/qr/approve < request_id approval_code scope persist sealed? > 200 status
  POST /api/auth/qr/deny < request_id approval_code? > 200 status
  POST /api/auth/qr/invite > 201 invite_id invite_payload expires_at
  POST /api/auth/qr/relink < keys{enc sig} > 201 request_id poll_secret qr_payload expires_at
  POST /api/auth/qr/start < device_name device_type invite? keys?{enc sig} > 201 request_id poll_secret qr_payload expires_at
  POST /api/auth/refresh < credential? > 200 ${SESSION}
  POST /api/hub/signal < to? to_device_id? transfer_id? kind payload > 202 delivered
  POST /api/keys/keep < device_id n signature > 204
  POST /api/message < to? to_device_id? content? sealed? > 201 message_id to[device_id|null name online pushed error?] \
    created_at > 202 message_id to[device_id|null name online pushed error?] created_at
  POST /api/message/ack < message_ids[] > 200 acked
  POST /api/push/native/register < platform token environment? > 201 subscription_id platform
  POST /api/push/subscribe < endpoint keys{p256dh auth} preview? vapid_key_id? > 201 subscription_id platform
  POST /api/push/test > 202
  POST /api/relay/{transfer_id}/{index}/{generation}/ack < received_bytes > 204
  POST /api/transfer/init < to? to_device_id? files[name size type? sha256? modified_at?] sealed? > 201 transfer{${TRANSFER}} \
    receiver_online
  POST /api/transfer/{transfer_id}/accept > 200 transfer{${TRANSFER}}
  POST /api/transfer/{transfer_id}/cancel < phase? reason? > 200 transfer{${TRANSFER}}
  POST /api/transfer/{transfer_id}/complete > 200 transfer{${TRANSFER}}
  POST /api/transfer/{transfer_id}/fail < phase? reason? > 200 transfer{${TRANSFER}}
  POST /api/transfer/{transfer_id}/p2p > 200 transfer{${TRANSFER}}
  POST /api/transfer/{transfer_id}/phase < phase progress?{sent_bytes? received_bytes?} > 200 transfer{${TRANSFER}}
  POST /api/transfer/{transfer_id}/reject > 200 transfer{${TRANSFER}}
  POST /api/transfer/{transfer_id}/relay > 200 transfer{${TRANSFER}}
  POST /link < request_id approval_code decision scope? persist? > 200 > 303
  POST /share > 303
  PUT /api/keys < ring > 200 n > 202 n
  PUT /api/keys/guests < guests > 200 n > 202 n
  PUT /api/clipboard < content? sealed? content_type > 200 ${CLIPBOARD}
`;

const OF_BROKER = `
  GET /v1/sessions ? subject cursor? > 200 sessions[session_id meta label scope tier persist created_at \
    last_active_at expires_at] next_cursor|null
  POST /v1/sessions < subject meta label scope persist ttl_seconds sliding device_type caller_tier origin > 200 \
    ${ISSUED} > 201 ${ISSUED}
  POST /v1/sessions/revoke < subject session_id? meta? reason > 204
  POST /v1/sessions/rotate < credential > 200 ${ISSUED}
  POST /v1/verify < credential? access_token? > 200 subject scope meta name roles[] session_id expires_at
`;

const OF_EVENTS = `
  clipboard source_device_id|null source_device_name updated_at expires_at bytes
  clipboard:cleared
  degraded reason
  keys n
  device:added device{device_id name type}
  device:removed device_id reason?
  device:renamed device{device_id name type}
  message message_id from_device_id|null from_name content sealed? created_at redelivered
  message:delivered message_ids[] by_device_id by_name at
  ping
  presence ${PRESENCE}
  ready resumed reason? device{device_id name type}|null presence{${PRESENCE}} clipboard{updated_at expires_at}|null \
    pending{messages transfers} heartbeat_ms server_id
  reconnect reason retry_ms
  relay:rewind transfer_id index upload_url offset
  restored reason
  session:revoked reason
  signal from_device_id from_name transfer_id|null kind payload
  signin:requested request_id device_name device_type source{address user_agent} expires_at device_id keys?{enc sig} relink? approval_code
  transfer:incoming transfer{${TRANSFER}} redelivered
  transfer:updated transfer{${TRANSFER}}
`;

/** Each line has the status, then the codes. */
const OF_ERRORS = `
  400 empty_message endpoint_not_allowed invalid_device_name invalid_request poll_secret_required \
    scope_not_allowed upload_length_mismatch
  401 reuse_detected session_expired session_revoked unauthenticated untrusted_edge
  403 access_denied account_refused cross_site device_mismatch device_required guest_forbidden not_a_party \
    tier_exceeded
  404 feature_disabled not_found
  405 method_not_allowed
  409 already_decided device_limit invalid_transition keys_conflict mailbox_full name_taken offset_mismatch transfer_limit
  410 login_consumed login_expired upload_gone
  413 body_too_large clipboard_too_large message_too_large
  415 unsupported_media_type
  416 range_not_available
  422 idempotency_key_reused
  429 rate_limited window_full
  500 internal
  502 broker_contract
  503 broker_unavailable draining relay_busy store_full store_unavailable
`;

/** Each line has the group, the requests, the seconds, and for whom they count. */
const OF_RATES = `
  auth 60 60 address
  qr_start 10 60 address
  device_session 10 60 address
  message 120 60 device
  clipboard 60 60 device
  transfer 60 60 device
  signal 600 60 device
  push 20 3600 device
`;

interface Shape {
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
  anyOf?: Shape[];
  allOf?: Shape[];
}

function shapeOf(schema: Shape): string {
  if (schema.allOf && !schema.properties) return schema.allOf.map(shapeOf).join(' ');
  if (schema.anyOf) return `${schema.anyOf.map(braced).join('')}|null`;
  if (schema.items) return `[${shapeOf(schema.items)}]`;
  const fields = Object.entries(schema.properties ?? {});
  return fields
    .map(([name, field]) => `${name}${schema.required?.includes(name) ? '' : '?'}${braced(field)}`)
    .join(' ');
}

const braced = (schema: Shape): string => (schema.properties ? `{${shapeOf(schema)}}` : shapeOf(schema));

/** Null has no fields, nor has a media type in place of a schema. */
const textOf = (schema: unknown): string => (schema !== null && typeof schema === 'object' ? shapeOf(schema) : '');

function lineOf({ method, path, query, body, answers }: Route): string {
  const told = Object.entries(answers).map(([status, answer]) => ` > ${status} ${textOf(answer)}`.trimEnd());
  const asked = [query === null ? '' : ` ? ${textOf(query)}`, body === null ? '' : ` < ${textOf(body)}`];
  return `${method} ${path}${asked.join('')}${told.join('')}`;
}

const linesOfRoutes = (routes: object): string[] => (Object.values(routes) as Route[]).map(lineOf).sort();
const linesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .sort();

test('requests and answers have the fields that clients were written against', () => {
  expect(linesOfRoutes(ROUTES)).toEqual(linesOf(OF_ROUTES));
});

test('so have those of the auth broker', () => {
  expect(linesOfRoutes(brokerRoutes)).toEqual(linesOf(OF_BROKER));
});

test('so have events', () => {
  const lines = Object.entries(EVENTS).map(([name, { data }]) => `${name} ${textOf(data)}`.trim());
  expect(lines.sort()).toEqual(linesOf(OF_EVENTS));
});

test('each code comes with the status that clients expect', () => {
  const codes = linesOf(OF_ERRORS).flatMap((line) => {
    const [status, ...words] = line.split(' ');
    return words.map((code) => `${code} ${status}`);
  });
  expect(
    Object.entries(ERRORS)
      .map(([code, { status }]) => `${code} ${status}`)
      .sort(),
  ).toEqual(codes.sort());
  expect((Object.keys(ERRORS) as ErrorCode[]).filter((code) => statusesOf(code).length > 1)).toEqual([
    'range_not_available',
  ]);
  expect(statusesOf('range_not_available')).toEqual([416, 503]);
});

test('the rates are those that were promised', () => {
  for (const line of linesOf(OF_RATES)) {
    const [group = '', limit, seconds, by] = line.split(' ');
    const { [group]: rate } = RATES as Record<string, { limit: number; windowSeconds: number; by: string }>;
    expect({ group, rate }).toEqual({
      group,
      rate: expect.objectContaining({ limit: Number(limit), windowSeconds: Number(seconds), by }),
    });
  }
});

test('the words that stand in fields are those that clients compare with', () => {
  expect(DEVICE_TYPES.join(' ')).toBe('browser macos windows linux ios shortcut');
  expect(TRANSFER_STATES.join(' ')).toBe('PENDING ACCEPTED P2P_ACTIVE RELAY_ACTIVE DONE FAILED CANCELLED');
  expect(TransferPhase.enum.join(' ')).toBe(
    'initializing waiting_accept waiting_peer ice_gathering ice_checking ice_connected dc_open transferring completing \
fallback_pending relay_uploading relay_downloading peer_offline',
  );
  expect(RESET_REASONS.join(' ')).toBe('new expired gap store_lost');
  expect(RECONNECT_REASONS.join(' ')).toBe('draining rotate slow superseded busy store');
  expect(REVOKED_REASONS.join(' ')).toBe('revoked logout expired');
  expect(NATIVE_PLATFORMS.join(' ')).toBe('fcm apns');
  expect(PREVIEWS.join(' ')).toBe('none sender full');
});
