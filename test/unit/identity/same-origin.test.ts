import { makeSameOrigin } from '../../../services/sync/identity/same-origin.ts';
import { codeOf, requestWith } from './request.ts';

const HOME = 'https://baton.example';
const sameOrigin = makeSameOrigin({ publicUrl: HOME });
const verdict = (...headers: (readonly [string, string])[]): Promise<string> =>
  codeOf(() => sameOrigin(Object.assign(requestWith(headers), { method: 'POST' }), { cors: true }));

const COOKIE = ['Cookie', '__Host-baton=v1'] as const;

test.each<[string, (readonly [string, string])[]]>([
  ['our own origin', [['Origin', HOME]]],
  ['our own origin with a cookie', [['Origin', HOME], COOKIE]],
  ['our own page', [['Origin', HOME], ['Sec-Fetch-Site', 'same-origin'], COOKIE]],
  ['a page without Origin', [['Sec-Fetch-Site', 'same-origin'], COOKIE]],
  ['the user directly', [['Sec-Fetch-Site', 'none'], COOKIE]],
  ['a program without cookie', []],
])('a write from %s passes', async (_, headers) => {
  expect(await verdict(...headers)).toBe('none');
});

test.each<[string, (readonly [string, string])[]]>([
  ['another origin', [['Origin', 'https://evil.example']]],
  ['an opaque origin', [['Origin', 'null']]],
  ['an empty origin', [['Origin', '']]],
  ['another scheme', [['Origin', 'http://baton.example']]],
  ['another port', [['Origin', `${HOME}:8443`]]],
  ['an origin that only begins like ours', [['Origin', `${HOME}.evil.example`]]],
  [
    'our origin twice',
    [
      ['Origin', HOME],
      ['Origin', HOME],
    ],
  ],
  ['another site', [['Sec-Fetch-Site', 'cross-site']]],
  [
    'a sibling site',
    [
      ['Origin', HOME],
      ['Sec-Fetch-Site', 'same-site'],
    ],
  ],
  ['a site header in capitals', [['Sec-Fetch-Site', 'Same-Origin']]],
  ['a cookie without any sign of the page', [COOKIE]],
])('a write from %s is refused', async (_, headers) => {
  expect(await verdict(...headers)).toBe('cross_site');
});
