/* The shell without network, notifications, and the target of the share sheet. It does not handle calls of the API. */
import { mendSubscription } from './mending.ts';
import { appWindow, isLookedAt, type OpenWindow, windowsOfApp } from './app-windows.ts';
import { inNotificationTurn } from '../push/notification-list.ts';
import { accountHere, noteTold, pushChoice } from './here.ts';
import {
  chosenOf,
  notificationOf,
  payloadOf,
  type PushPayload,
  type Shown,
  strayNotification,
} from './notifications.ts';
import { withSealedPreview } from './sealed-preview.ts';
import { share } from './share-target.ts';
import { type Told, unreadOf } from './unread.ts';

declare const BATON_SHELL: readonly string[];
declare const BATON_SHELL_VERSION: string;

interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchingEvent extends Extendable {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface PushingEvent extends Extendable {
  data: { json(): unknown } | null;
}
interface ToldEvent extends Extendable {
  data: { type?: unknown; said?: unknown } | null;
}
interface ClickedEvent extends Extendable {
  notification: Notification;
}
interface Events {
  install: Extendable;
  activate: Extendable;
  fetch: FetchingEvent;
  push: PushingEvent;
  message: ToldEvent;
  pushsubscriptionchange: Extendable;
  notificationclick: ClickedEvent;
}
interface Scope {
  addEventListener<N extends keyof Events>(name: N, listener: (event: Events[N]) => void): void;
  skipWaiting(): Promise<void>;
  clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<OpenWindow[]>;
    openWindow(url: string): Promise<OpenWindow | null>;
  };
  registration: ServiceWorkerRegistration;
}

const scope = self as unknown as Scope;
const CACHE = `baton-${BATON_SHELL_VERSION}`;
const PAGE_WITHIN_MS = 3_000;
/** While replicas of two versions run together, the next one may have the file. */
const ASSET_TRIES = 3;
/** Nobody waits for the shell, so it has more tries. */
const SHELL_TRIES = 8;
const SHELL_PAUSE_MS = 250;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Tells whether a response belongs to the shell. The page names only files of its own version. Texts are in no shell. */
async function isOfShell(path: string, answer: Response): Promise<boolean> {
  if (!answer.ok || path !== '/') return answer.ok;
  const named = (await answer.clone().text()).match(/\/assets\/[\w.-]+/g) ?? [];
  return named.every((file) => file.endsWith('.txt') || BATON_SHELL.includes(file));
}

/** @throws when no replica of this version answers */
async function fetchOfShell(path: string): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(path).catch(() => null);
    if (answer !== null && (await isOfShell(path, answer))) return answer;
    if (tries === SHELL_TRIES) throw new Error(`No replica of this version has ${path}`);
    await pause(tries * SHELL_PAUSE_MS);
  }
}

/** Installs all of the shell or nothing. After a failure it is installed when somebody looks at the page again. */
async function install(): Promise<void> {
  const answers = await Promise.all(BATON_SHELL.map(async (path) => [path, await fetchOfShell(path)] as const));
  const cache = await caches.open(CACHE);
  await Promise.all(answers.map(([path, answer]) => cache.put(path, answer)));
  await scope.skipWaiting();
}

scope.addEventListener('install', (event) => event.waitUntil(install()));

/** Drops old caches, except the newest other one: open pages of the previous version may still request its files. */
async function dropOld(): Promise<void> {
  const others = (await caches.keys()).filter((name) => name.startsWith('baton-') && name !== CACHE);
  await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
  await scope.clients.claim();
}

scope.addEventListener('activate', (event) => event.waitUntil(dropOld()));

/** Returns the present page, or the stored one without network or on a slow one. */
async function page(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PAGE_WITHIN_MS) });
    if (answer.ok || answer.status < 500) return answer;
  } catch {
    // The stored page follows.
  }
  return (await caches.match('/', { cacheName: CACHE })) ?? Response.error();
}

async function asset(request: Request): Promise<Response> {
  const kept = await caches.match(request);
  if (kept !== undefined) return kept;
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(request);
    if (answer.status !== 404 || tries === ASSET_TRIES) return answer;
  }
}

/** Takes a share. A plain visit to the address leads to the app. */
const shared = async (request: Request): Promise<Response> =>
  request.method === 'POST' ? share(request) : Response.redirect('/', 303);

scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin) return;
  if (pathname === '/share' && request.mode === 'navigate') event.respondWith(shared(request));
  else if (request.method !== 'GET') return;
  else if (pathname === '/' && request.mode === 'navigate') event.respondWith(page(request));
  else if (pathname.startsWith('/assets/')) event.respondWith(asset(request));
});

const windows = async (): Promise<OpenWindow[]> =>
  windowsOfApp(await scope.clients.matchAll({ type: 'window', includeUncontrolled: true }), scope.registration.scope);

type BadgeNavigator = Navigator & { setAppBadge?: (count: number) => Promise<void> };

/** Shows how many items nobody has read after a push with this notification. An open page counts by itself. */
async function showBadge({ tag, data }: { tag: string; data: Told }): Promise<void> {
  const pages = await windows();
  if (pages.length === 0) {
    const shown = await inNotificationTurn(() => scope.registration.getNotifications()).catch(() => []);
    const others = shown.filter((one) => one.tag !== tag).map((one) => (one.data ?? {}) as Partial<Told>);
    await (navigator as BadgeNavigator).setAppBadge?.(await unreadOf([data, ...others]));
  }
  for (const one of pages) one.postMessage({ type: 'shown' });
}

/** Shows a notification. The caller holds the turn. Without `isNew` it replaces one in silence. */
async function show({ title, body, tag, path }: Shown, { id, count }: Told, isNew = true): Promise<void> {
  // Without `renotify` a second notification with the same tag replaces the first without a sound.
  const options = { body, tag, data: { path, id, count }, renotify: isNew, silent: !isNew };
  await scope.registration.showNotification(title, options);
}

/** Tells of an item, once: a push and a page may both know of it. */
async function tell(payload: PushPayload, by: 'push' | 'page'): Promise<void> {
  const { type, id } = payload;
  let { count } = payload;
  const counts = type === 'message' || type === 'transfer' || type === 'arrived';
  const { tag } = notificationOf(payload, navigator.language);
  await inNotificationTurn(async () => {
    const isNew = id === '' || (await noteTold(`${type} ${id}`));
    if (by === 'page' && !isNew) return;
    // A push counts what waits at the service. A page tells of each item by itself.
    if (by === 'page') {
      for (const one of await scope.registration.getNotifications({ tag })) {
        count += ((one.data ?? {}) as Partial<Told>).count ?? 0;
      }
    }
    const shown = notificationOf({ ...payload, count }, navigator.language);
    await show(shown, { id, count: counts ? count : 0 }, isNew);
  });
  if (counts) await showBadge({ tag, data: { id, count } }).catch(() => {});
}

/** Shows something for each push, because browsers demand that. A page that has read the item closes the notification. */
async function notify(event: PushingEvent): Promise<void> {
  const said = payloadOf(event.data);
  if ((await accountHere()) !== null) return tell(await withSealedPreview(said, await pushChoice()), 'push');
  const stray = strayNotification(navigator.language);
  await inNotificationTurn(() => show(stray, { id: '', count: 0 }));
  await (await scope.registration.pushManager.getSubscription())?.unsubscribe();
}

/** Tells of what an open page has taken, as the user chose it, unless somebody looks at a page of the app. */
async function tellOf(said: unknown): Promise<void> {
  const [account, choice] = [await accountHere(), await pushChoice()];
  if (!choice?.isWanted || choice.account !== account || Notification.permission !== 'granted') return;
  if ((await windows()).some(isLookedAt)) return;
  await tell(chosenOf(payloadOf({ json: () => said }), choice.preview), 'page');
}

scope.addEventListener('message', (event) => {
  if (event.data?.type === 'tell') event.waitUntil(tellOf(event.data.said));
});

scope.addEventListener('push', (event) => event.waitUntil(notify(event)));

/** Repairs the subscription. An open page looks at it too, in case the service did not answer. */
async function mend(): Promise<void> {
  await mendSubscription(scope.registration.pushManager);
  for (const one of await windows()) one.postMessage({ type: 'subscription' });
}

scope.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(mend()));

/** Opens a path in an open page of the app, which pages such as the API reference are not. */
async function open(path: string): Promise<void> {
  const found = appWindow(await windows());
  if (found !== undefined) {
    found.postMessage({ type: 'open', path });
    try {
      await found.focus();
      return;
    } catch {
      // The window was closed meanwhile, or may not be brought to the front.
    }
  }
  await scope.clients.openWindow(path);
}

scope.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { path } = (event.notification.data ?? { path: '/' }) as { path: string };
  event.waitUntil(open(path));
});
