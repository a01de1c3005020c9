import { makeDevice, randomUser } from '../../support/device.ts';
import { type LoneApp, startLoneApp } from '../../support/lone-app.ts';
import { ROUTE_NAMES, routeOf, sampleRequest, senderOf } from '../../support/samples.ts';
import { fillPath } from '../../../shared/contract/vocabulary/route.ts';
import { request } from '../../support/wire.ts';

/* A number in a path has one spelling. With any other spelling the path does not exist. */

let app: LoneApp;
beforeAll(async () => {
  app = await startLoneApp();
});
afterAll(() => app.stop());

const user = randomUser();
const scene = { own: makeDevice({ user, name: 'Laptop' }), other: makeDevice({ user, name: 'Phone' }) };
type Name = (typeof ROUTE_NAMES)[number];
const numericParams = (name: Name): string[] =>
  Object.entries((routeOf(name).params?.properties ?? {}) as Record<string, { type?: string }>)
    .filter(([, { type }]) => type === 'integer')
    .map(([param]) => param);
const ID = '019b76da-a800-7a3b-9f7e-2b1c4d5e6f70';

const NUMBERS = ROUTE_NAMES.flatMap((name) => numericParams(name).map((param) => [name, param] as const));
const OTHER_SPELLINGS = [
  '0e0',
  '1e0',
  '0E0',
  '00',
  '01',
  '+0',
  '-0',
  '+1',
  '-1',
  '1.0',
  '1.',
  '.0',
  '0x0',
  '0b1',
  '1_0',
  ' 0',
  '0 ',
  '1n',
  '٠',
  '',
  'NaN',
  'Infinity',
  'null',
  'true',
];

const asked = (name: Name, param: string, value: string) => {
  const params = Object.fromEntries(numericParams(name).map((each) => [each, '1']));
  return {
    ...sampleRequest(name, scene),
    headers: senderOf(name, scene.own).headers,
    path: fillPath(routeOf(name).path, { transfer_id: ID, ...params, [param]: value }),
  };
};

test('there are numbers in paths', () => expect(NUMBERS.length).toBeGreaterThanOrEqual(8));

test.each(NUMBERS)('%s takes %s in plain digits alone', async (name, param) => {
  for (const value of OTHER_SPELLINGS) {
    app.handled();
    const answer = await request(app, asked(name, param, value));
    expect([value, answer.status, app.handled()]).toEqual([value, 404, []]);
  }
  for (const value of ['0', '1', '10']) {
    app.handled();
    await request(app, asked(name, param, value));
    expect([value, app.handled()]).toEqual([value, [name]]);
  }
});
