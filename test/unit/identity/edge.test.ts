import type { Caller } from '../../../services/sync/identity/caller.ts';
import { makeEdgeIdentity } from '../../../services/sync/identity/modes/edge.ts';
import { misfit } from '../../../shared/client/http/misfit.ts';
import { formOf } from '../../../shared/contract/forms.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { Text } from '../../../shared/contract/vocabulary/fields.ts';
import { asHeaderBytes, codeOf, requestWith } from './request.ts';

const SECRET = 'the-first-secret-of-the-edge-0123456789';
const NEXT = 'the-secret-after-the-rotation-0123456789';
const PROOF = ['X-Edge-Secret', SECRET] as const;
const ALICE = ['X-Auth-Subject', 'alice'] as const;
const FULL = ['X-Auth-Scope', 'full'] as const;

type Header = readonly [string, string];

const edge = makeEdgeIdentity({ secrets: [SECRET, NEXT] });
const callerFrom = async (...headers: Header[]): Promise<Caller> => edge.identify(requestWith(headers), ROUTES.getMe);
const alice = (...headers: Header[]): Promise<Caller> => callerFrom(PROOF, ALICE, FULL, ...headers);
const refusal = (...headers: Header[]): Promise<string> => codeOf(() => callerFrom(...headers));

test('an identity with proof becomes the caller', async () => {
  const caller = await alice(
    ['X-Auth-Meta', 'laptop-01'],
    ['X-Auth-Name', 'Alice%20%C3%89'],
    ['X-Auth-Roles', 'a, b,'],
  );
  expect(caller).toEqual({
    userId: 'alice',
    account: 'alice',
    scope: 'full',
    name: 'Alice É',
    roles: ['a', 'b'],
    deviceId: 'laptop-01',
  });
});

test.each([
  ['absent', []],
  ['empty', [['X-Auth-Meta', ''] as const, ['X-Auth-Name', ''] as const, ['X-Auth-Roles', ''] as const]],
])('%s meta, name and roles mean no device, the subject as name, and no roles', async (_, headers) => {
  expect(await alice(...headers)).toMatchObject({ deviceId: null, name: 'alice', roles: [] });
});

test('a name that is too long for clients is cut', async () => {
  const { name } = await alice(['X-Auth-Name', `${'a'.repeat(4_095)}${encodeURIComponent('😀')}`]);
  expect(name).toBe(`${'a'.repeat(4_095)}\uFFFD`);
  expect(misfit(formOf(Text), name)).toBeNull();
});

test('devices of two accounts with one id are told apart, also when their requests alternate', async () => {
  const meta = ['X-Auth-Meta', 'laptop-01'] as const;
  const ask = (user: string, scope: string) =>
    callerFrom(PROOF, ['X-Auth-Subject', user], ['X-Auth-Scope', scope], meta);
  const seen: string[] = [];
  for (let i = 0; i < 2; i++)
    for (const [user, scope] of [
      ['alice', 'full'],
      ['bob', 'guest'],
      ['alice', 'guest'],
    ] as const) {
      const caller = await ask(user, scope);
      seen.push(`${caller.userId} ${caller.scope}`);
    }
  expect(seen).toEqual(['alice full', 'bob guest', 'alice guest', 'alice full', 'bob guest', 'alice guest']);
});

test('both secrets are good while they are rotated', async () => {
  expect(await callerFrom(['X-Edge-Secret', NEXT], ALICE, FULL)).toMatchObject({ userId: 'alice' });
});

test.each<[string, Header[], string]>([
  ['nothing at all', [], 'unauthenticated'],
  ['a wrong proof alone', [['X-Edge-Secret', 'wrong']], 'unauthenticated'],
  ['an identity without proof', [ALICE, FULL], 'untrusted_edge'],
  ['an identity with a wrong proof', [['X-Edge-Secret', `${SECRET}x`], ALICE, FULL], 'untrusted_edge'],
  [
    'an identity with a proof that goes on',
    [['X-Edge-Secret', `${NEXT}${asHeaderBytes('é😀')}`], ALICE],
    'untrusted_edge',
  ],
  ['an identity with a part of the proof', [['X-Edge-Secret', SECRET.slice(0, -1)], ALICE], 'untrusted_edge'],
  ['an identity with an empty proof', [['X-Edge-Secret', ''], ALICE, FULL], 'untrusted_edge'],
  ['an identity with both secrets in one value', [['X-Edge-Secret', `${SECRET},${NEXT}`], ALICE], 'untrusted_edge'],
  ['an underscore identity without proof', [['X_Auth_Subject', 'alice']], 'untrusted_edge'],
  ['proof alone', [PROOF], 'unauthenticated'],
  ['no subject', [PROOF, FULL], 'unauthenticated'],
  ['an empty subject', [PROOF, ['X-Auth-Subject', ''], FULL], 'unauthenticated'],
  ['a subject with a space', [PROOF, ['X-Auth-Subject', 'al ice'], FULL], 'unauthenticated'],
  ['a subject beyond ASCII', [PROOF, ['X-Auth-Subject', asHeaderBytes('é')], FULL], 'unauthenticated'],
  ['a subject of 256 characters', [PROOF, ['X-Auth-Subject', 'a'.repeat(256)], FULL], 'unauthenticated'],
  ['no scope', [PROOF, ALICE], 'unauthenticated'],
  ['an empty scope', [PROOF, ALICE, ['X-Auth-Scope', '']], 'unauthenticated'],
  ['a scope in capitals', [PROOF, ALICE, ['X-Auth-Scope', 'Full']], 'unauthenticated'],
  ['two scopes in one value', [PROOF, ALICE, ['X-Auth-Scope', 'guest, full']], 'unauthenticated'],
  ['a malformed device id', [PROOF, ALICE, FULL, ['X-Auth-Meta', 'short']], 'unauthenticated'],
  ['a subject twice', [PROOF, ALICE, ALICE, FULL], 'invalid_request'],
  ['a scope twice', [PROOF, ALICE, FULL, ['X-Auth-Scope', 'guest']], 'invalid_request'],
  ['a name twice', [PROOF, ALICE, FULL, ['X-Auth-Name', 'a'], ['x-auth-name', 'b']], 'invalid_request'],
  ['proof twice', [PROOF, PROOF, ALICE, FULL], 'invalid_request'],
  ['an underscore twin beside the header', [PROOF, ALICE, ['x_auth_subject', 'eve'], FULL], 'invalid_request'],
  ['an underscore twin alone', [PROOF, ALICE, FULL, ['X_AUTH_META', 'laptop-01']], 'invalid_request'],
  ['a half underscore twin', [PROOF, ALICE, FULL, ['X-Auth_Roles', 'admin']], 'invalid_request'],
])('%s is refused', async (_, headers, code) => {
  expect(await refusal(...headers)).toBe(code);
});

test('a subject may be 255 visible characters long, and is its account percent-encoded', async () => {
  const subject = `{${'/'.repeat(253)}}`;
  const caller = await callerFrom(PROOF, ['X-Auth-Subject', subject], FULL);
  expect(caller).toMatchObject({ userId: subject, account: `%7B${'%2F'.repeat(253)}%7D` });
});

test('identity headers of the development mode are ignored', async () => {
  const caller = await alice(['X-Dev-User', 'eve'], ['X-Dev-User', 'eve'], ['X_Dev_Scope', 'guest']);
  expect(caller.userId).toBe('alice');
});

test.each([
  ['bad percent-encoding is taken as it came', '100%', '100%'],
  ['control characters are dropped', 'A%0D%0Ab%00', 'Ab'],
  ['raw UTF-8 is understood', asHeaderBytes('Zoë'), 'Zoë'],
  ['stray bytes are shown as Latin-1', 'Zo\u00eb', 'Zoë'],
])('in a name %s', async (_, header, name) => {
  expect((await alice(['X-Auth-Name', header])).name).toBe(name);
});

test('a refusal of ambiguous headers names them', async () => {
  await expect(alice(['X_Auth_Scope', 'guest'])).rejects.toMatchObject({
    extras: { errors: [{ path: '/header/x_auth_scope' }] },
  });
});

test('a missing device row stays missing', async () => {
  expect(await edge.restoreRow(await alice(['X-Auth-Meta', 'laptop-01']))).toBe(false);
});
