import { createECDH, randomBytes } from 'node:crypto';
import { checkKeys } from '../../../services/sync/push/guard/endpoint.ts';
import { parseEndpointRules } from '../../../services/sync/push/guard/endpoint-rules.ts';
import {
  checkSubject,
  checkVapidKey,
  isUnreal,
  makeVapidKeys,
} from '../../../services/sync/push/senders/web-push/vapid.ts';
import { makeBrowser } from '../../support/fake-push/browser.ts';
import { makeSender, SUBJECT, VAPID } from './sending.ts';

describe('keys of a subscription', () => {
  const { p256dh, auth } = makeBrowser().keys;

  test('are taken as browsers write them, with padding or without', () => {
    expect(checkKeys(p256dh, auth)).toBe(true);
    expect(checkKeys(`${p256dh}=`, `${auth}==`)).toBe(true);
  });

  test('must be an uncompressed point on the curve', () => {
    const point = Buffer.from(p256dh, 'base64url');
    const offCurve = Buffer.from(point);
    offCurve.writeUInt8((offCurve[64] as number) ^ 1, 64);
    const compressed = createECDH('prime256v1').generateKeys('base64url', 'compressed');
    const hybrid = Buffer.concat([Buffer.from([6 + ((point[64] as number) & 1)]), point.subarray(1)]);
    for (const wrong of [
      offCurve.toString('base64url'),
      hybrid.toString('base64url'),
      Buffer.concat([Buffer.from([4]), Buffer.alloc(64)]).toString('base64url'),
      Buffer.concat([Buffer.from([4]), randomBytes(64)]).toString('base64url'),
      compressed,
      point.subarray(0, 64).toString('base64url'),
      `${p256dh}AA`,
      point.toString('base64').replace(/.$/, '+'),
      point.toString('hex'),
      '',
    ])
      expect([wrong, checkKeys(wrong, auth)]).toEqual([wrong, false]);
  });

  test('must have 16 bytes of authentication secret', () => {
    for (const bytes of [0, 15, 17, 32])
      expect(checkKeys(p256dh, randomBytes(bytes).toString('base64url'))).toBe(false);
    expect(checkKeys(p256dh, `${auth.slice(0, -1)}!`)).toBe(false);
  });
});

describe('the contact that push services are given', () => {
  test.each(['mailto:push@baton-ops.dev', 'mailto:a.b+c@mail.baton.co.uk', 'https://baton-ops.dev/contact'])(
    'may be %s',
    (subject) => expect(checkSubject(subject)).toBeNull(),
  );

  test.each([
    'mailto:root@localhost',
    'mailto:admin@10.0.0.1',
    'mailto:admin',
    'mailto:',
    'mailto:a@b@baton-ops.dev',
    'mailto:<a@baton-ops.dev>',
    'push@baton-ops.dev',
    'http://baton-ops.dev',
    'https://localhost:3000',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://baton',
    '',
  ])('may not be %j', (subject) => expect(checkSubject(subject)).toEqual(expect.any(String)));
});

describe('a contact that is nobody', () => {
  test.each([
    ...['mailto:admin@example.com', 'mailto:admin@mail.example.org', 'https://example.com'],
    ...['mailto:admin@host.local', 'mailto:admin@baton.test', 'mailto:admin@baton.invalid'],
  ])('like %s is told from a real one', (subject) => {
    expect([checkSubject(subject), isUnreal(subject)]).toEqual([null, true]);
    expect(isUnreal('mailto:push@baton-ops.dev')).toBe(false);
  });
});

describe('VAPID keys', () => {
  test('that are made are a pair, each time another', () => {
    const pairs = Array.from({ length: 20 }, makeVapidKeys);
    expect(pairs.filter((pair) => !checkVapidKey(pair))).toEqual([]);
    expect(new Set(pairs.map(({ privateKey }) => privateKey)).size).toBe(20);
  });

  test('of two pairs, or badly written, are told at once', () => {
    const [one, two] = [makeVapidKeys(), makeVapidKeys()];
    expect(checkVapidKey({ ...one, privateKey: two.privateKey })).toBe(false);
    expect(checkVapidKey({ ...one, publicKey: `${one.publicKey}=` })).toBe(false);
    expect(checkVapidKey({ ...one, privateKey: 'A'.repeat(43) })).toBe(false);
    const keys = [{ ...VAPID, privateKey: two.privateKey }];
    expect(() => makeSender({ vapid: { keys, subject: SUBJECT } })).toThrow('The VAPID key key-1 is no pair');
    expect(() => makeSender({ vapid: { keys: [VAPID], subject: 'mailto:me@localhost' } })).toThrow('VAPID subject');
  });
});

describe('rules for endpoints', () => {
  test.each(['known', 'public', 'known,push.lab:8443', 'localhost:9000', '10.0.0.5, [fd00::5]:444'])(
    'may be %s',
    (text) => expect(parseEndpointRules(text)).toEqual({ value: { allow: text.split(/, ?/) } }),
  );

  test.each(['', 'known,', 'https://push.lab', 'push.lab/a', 'user@push.lab', '*.push.lab', 'push.lab:99999', 'a b'])(
    'may not be %j',
    (text) => expect(parseEndpointRules(text)).toEqual({ problem: expect.stringMatching(/^must be known, public or/) }),
  );
});

describe('the browser of the tests', () => {
  test('reads the example of RFC 8291, appendix A', () => {
    const browser = makeBrowser({
      privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    });
    const body =
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl' +
      '7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN';
    expect(browser.open(Buffer.from(body, 'base64url')).toString()).toBe('When I grow up, I want to be a watermelon');
    expect(() => makeBrowser().open(Buffer.from(body, 'base64url'))).toThrow('unable to authenticate');
  });
});
