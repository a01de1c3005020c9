/*
 * The shell without network, notifications, and what the share sheet hands over. Calls of the API pass it by.
 */
import { notificationOf, payloadOf } from './notifications.ts';
import { keepShare } from './shares.ts';

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
interface ClickedEvent extends Extendable {
  notification: Notification;
}
interface OpenWindow {
  url: string;
  visibilityState: DocumentVisibilityState;
  focus(): Promise<OpenWindow>;
  postMessage(message: unknown): void;
}
interface Events {
  install: Extendable;
  activate: Extendable;
  fetch: FetchingEvent;
  push: PushingEvent;
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
/** While replicas of two versions serve together, the next one asked may have the file. */
const ASSET_TRIES = 3;

scope.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(BATON_SHELL))
      .then(() => scope.skipWaiting()),
  );
});

async function dropOld(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith('baton-') && name !== CACHE).map((name) => caches.delete(name)),
  );
  await scope.clients.claim();
}

scope.addEventListener('activate', (event) => event.waitUntil(dropOld()));

/** The page as it is now; as it was when there is no network, or none worth waiting for. */
async function page(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PAGE_WITHIN_MS) });
    if (answer.ok || answer.status < 500) return answer;
  } catch {
    // The one that is kept.
  }
  return (await caches.match('/')) ?? Response.error();
}

async function asset(request: Request): Promise<Response> {
  const kept = await caches.match(request);
  if (kept !== undefined) return kept;
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(request);
    if (answer.status !== 404 || tries === ASSET_TRIES) return answer;
  }
}

async function share(request: Request): Promise<Response> {
  const form = await request.formData();
  const words = ['title', 'text', 'url'].map((name) => form.get(name)).filter((value) => typeof value === 'string');
  const text = [...new Set(words.filter((word) => word !== ''))].join('\n');
  const files = form.getAll('files').filter((value) => value instanceof File);
  const id = await keepShare({ text, files });
  return Response.redirect(`/#/share/${id}`, 303);
}

scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin) return;
  if (request.method === 'POST' && pathname === '/share') event.respondWith(share(request));
  else if (request.method !== 'GET') return;
  else if (pathname === '/' && request.mode === 'navigate') event.respondWith(page(request));
  else if (pathname.startsWith('/assets/')) event.respondWith(asset(request));
});

async function notify(event: PushingEvent): Promise<void> {
  const payload = payloadOf(event.data);
  const { title, body, tag, path } = notificationOf(payload, navigator.language);
  await scope.registration.showNotification(title, { body, tag, data: { path } });
  await (navigator as Navigator & { setAppBadge?: (count: number) => Promise<void> }).setAppBadge?.(payload.count);
}

scope.addEventListener('push', (event) => event.waitUntil(notify(event)));

async function open(path: string): Promise<void> {
  const windows = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const [first] = windows;
  if (first === undefined) {
    await scope.clients.openWindow(path);
    return;
  }
  first.postMessage({ type: 'open', path });
  await first.focus();
}

scope.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { path } = (event.notification.data ?? { path: '/' }) as { path: string };
  event.waitUntil(open(path));
});
