import { judge, type PushSides } from '../../../services/web/push/push-judgement.ts';
import { appWindow, windowsOfApp } from '../../../services/web/service-worker/app-windows.ts';
import { notificationOf, payloadOf } from '../../../services/web/service-worker/notifications.ts';
import { senderOf } from '../../../services/web/service-worker/share-target.ts';
import { isForAnother, subscribeFor } from '../../../services/web/service-worker/subscribing.ts';

const KEY = 'BKey';
const AGREED: PushSides = {
  permission: 'granted',
  isWanted: true,
  browser: { digest: 'one', key: KEY },
  told: { subscriptionId: 's', digest: 'one' },
  listed: { subscription_id: 's', state: 'active' },
  key: KEY,
};

describe('notifications are', () => {
  test.each<[string, Partial<PushSides>]>([
    ['on', {}],
    ['on', { browser: { digest: 'one', key: null } }],
    ['tell', { listed: null }],
    ['tell', { told: null }],
    ['tell', { told: { subscriptionId: 's', digest: 'two' } }],
    ['tell', { listed: { subscription_id: 'another', state: 'active' } }],
    ['tell', { listed: { subscription_id: 'another', state: 'suspended' } }],
    ['renew', { listed: { subscription_id: 's', state: 'suspended' } }],
    ['renew', { browser: { digest: 'one', key: 'BOther' } }],
    ['renew', { browser: { digest: 'one', key: 'BOther' }, listed: null }],
    ['subscribe', { browser: null }],
    ['subscribe', { browser: null, listed: null, told: null }],
    ['off', { isWanted: false, browser: null, listed: null }],
    ['remove', { isWanted: false }],
    ['remove', { isWanted: false, browser: null }],
    ['remove', { isWanted: false, listed: null }],
    ['denied', { permission: 'denied' }],
    ['denied', { permission: 'denied', isWanted: false, browser: null, listed: null }],
    ['asks', { permission: 'default', browser: null }],
    ['off', { permission: 'default', isWanted: false, browser: null, listed: null }],
  ])('%s when what agreed is now %j', (verdict, changed) => {
    expect(judge({ ...AGREED, ...changed })).toBe(verdict);
  });
});

/** Makes a browser's push manager by the specification: beside a subscription it refuses another key. */
function fakeManager(held: string | null) {
  const acts: string[] = [];
  const bytes = (key: string) => Uint8Array.from(atob(key), (letter) => letter.charCodeAt(0)).buffer;
  const manager = {
    now: held,
    isSilent: false,
    getSubscription: async () =>
      manager.now === null || manager.isSilent
        ? null
        : { options: { applicationServerKey: bytes(manager.now) }, unsubscribe },
    subscribe: async ({ applicationServerKey }: { applicationServerKey: Uint8Array }) => {
      const key = btoa(String.fromCharCode(...applicationServerKey));
      acts.push(`subscribe ${key}`);
      if (manager.now !== null && manager.now !== key) {
        manager.isSilent = false;
        throw new DOMException('There is one for another key', 'InvalidStateError');
      }
      manager.now = key;
      return manager.getSubscription();
    },
  };
  const unsubscribe = async () => {
    acts.push('unsubscribe');
    manager.now = null;
    return true;
  };
  return { manager, acts, asManager: manager as unknown as PushManager };
}

describe('a browser subscribes', () => {
  test.each([
    ['where it has nothing', null, false, ['subscribe AAAA']],
    ['with what it has', 'AAAA', false, ['subscribe AAAA']],
    ['anew where what it has does not work', 'AAAA', true, ['unsubscribe', 'subscribe AAAA']],
    ['anew where it has one for another key', 'BBBB', false, ['unsubscribe', 'subscribe AAAA']],
  ])('%s', async (_, held, anew, expected) => {
    const { acts, asManager } = fakeManager(held);
    await subscribeFor(asManager, 'AAAA', { anew });
    expect(acts).toEqual(expected);
  });

  test('anew where one for another key shows only when it refuses', async () => {
    const { manager, acts, asManager } = fakeManager('BBBB');
    manager.isSilent = true;
    expect(isForAnother(await subscribeFor(asManager, 'AAAA'), 'AAAA')).toBe(false);
    expect(acts).toEqual(['subscribe AAAA', 'unsubscribe', 'subscribe AAAA']);
  });
});

const pushOf = (text: string) => ({ json: (): unknown => JSON.parse(text) });

describe('a push', () => {
  test.each(['', 'no JSON', '[]', '7', 'null', '{}', '{"v":2,"type":"message"}', '{"v":1,"type":"toString"}'])(
    'that is %j shows that there is something new',
    (text) => {
      expect(payloadOf(pushOf(text))).toEqual({ type: 'unknown', count: 1, id: '' });
    },
  );

  test('without data shows that there is something new', () => {
    expect(payloadOf(null).type).toBe('unknown');
  });

  test.each([0, -3, 1.5, '2', null, 1e30])('with the count %j counts as one', (count) => {
    expect(payloadOf(pushOf(JSON.stringify({ v: 1, type: 'message', count })))).toMatchObject({ count: 1 });
  });

  test('names whom it is from by a notification of their own, and leads to what it tells of', () => {
    const payload = payloadOf(pushOf('{"v":1,"type":"transfer","count":2,"id":"a/b","from":"Phone"}'));
    expect(notificationOf(payload, 'en')).toEqual({
      ...{ title: 'Phone', body: '2 transfers wait for you', tag: 'transfer Phone', path: '/#/item/a%2Fb' },
    });
  });
});

describe('a click on a notification goes', () => {
  const at = (url: string, more: object = {}) => ({ url, focused: false, visibilityState: 'hidden' as const, ...more });
  const chosen = (...windows: ReturnType<typeof at>[]) =>
    appWindow(windowsOfApp(windows, 'https://baton.example/'))?.url ?? null;

  test.each(['/api/docs', '/link?r=1', '/share', '/sw.js', '/healthz'])('not to %s', (path) => {
    expect(chosen(at(`https://baton.example${path}`, { focused: true, visibilityState: 'visible' }))).toBeNull();
  });

  test('to the page in front, before one that is seen, before one that is not', () => {
    const [back, seen, front] = ['#/a', '#/b', '?x=1#/c'].map((end) => `https://baton.example/${end}`) as [
      string,
      string,
      string,
    ];
    const [isSeen, isFront] = [{ visibilityState: 'visible' }, { visibilityState: 'visible', focused: true }];
    expect(chosen(at(back), at(seen, isSeen), at(front, isFront))).toBe(front);
    expect(chosen(at(back), at(seen, isSeen))).toBe(seen);
    expect(chosen(at(back))).toBe(back);
  });
});

describe('a share', () => {
  const OWN = 'https://baton.example';
  test.each([
    ['own', 'https://baton.example/', { origin: OWN }],
    ['own', '', { origin: OWN }],
    ['unknown', '', {}],
    ['unknown', '', { origin: 'null' }],
    ['unknown', '', { origin: 'null', 'sec-fetch-site': 'none' }],
    ['unknown', 'about:client', { origin: 'null' }],
    ['elsewhere', 'https://evil.example/page', { origin: 'https://evil.example' }],
    ['elsewhere', '', { origin: 'https://evil.example' }],
    ['elsewhere', 'https://evil.example/page', { origin: 'null' }],
    ['elsewhere', 'https://baton.example/', { origin: 'https://evil.example' }],
    ['elsewhere', '', { origin: 'https://baton.example.evil.example' }],
    ['elsewhere', '', { origin: 'https://baton.example:8443' }],
    ['elsewhere', '', { origin: 'http://baton.example' }],
    ['unknown', 'android-app://com.example.photos/', { origin: 'null' }],
    ['elsewhere', '', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['elsewhere', '', { origin: 'null', 'sec-fetch-site': 'same-site' }],
  ])('is %s from %j with %j', (from, referrer, headers) => {
    expect(senderOf({ referrer, headers: new Headers(headers as Record<string, string>) }, OWN)).toBe(from);
  });
});
