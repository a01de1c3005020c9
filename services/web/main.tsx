import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { type App, endedBy, openApp } from './engine/app.ts';
import { tabWords } from './kept-words.ts';
import { watchLeaving } from './left-page.ts';
import { onWorkerMessage, registerWorker } from './push/registration.ts';
import { type Entry, findEntry, goToLogin } from './session/entry.ts';
import { endJoining, joining, takeJoining } from './session/joining.ts';
import { linked, takeLink } from './session/linked.ts';
import { finishSigningOut } from './session/signing-out.ts';
import { leaveBrowser } from './session/this-browser.ts';
import { language, startLanguage, texts } from './texts/texts.ts';
import { AppContext, guestUntil } from './view/app-context.ts';
import { goInstead } from './view/navigation.ts';
import { startTheme } from './view/theme.ts';
import { NoticeList } from './view/parts/notice-list.tsx';
import { attempt, notify } from './view/parts/notices.ts';
import { Shell } from './view/shell.tsx';
import { NameDevice, Unreachable, Welcome } from './view/sign-in/welcome.tsx';

/** The reason, from the page before this one, why its session was over. */
const ENDED = 'baton-ended';
/** How long the start waits for the end of an earlier sign-out. */
const FINISHED_WITHIN_MS = 8_000;

const entry = signal<Entry | null>(null);
const app = signal<App | null>(null);

function enter(found: Entry): void {
  if (found.kind !== 'in') {
    entry.value = found;
    // Signed out while no page was open.
    if (found.kind !== 'unreachable') void leaveBrowser({ isExpired: true });
    return;
  }
  tabWords.set(ENDED, null);
  if (joining() !== null) {
    endJoining();
    notify(texts.value.join.already(found.deviceName));
  }
  attempt(async () => {
    guestUntil.value = found.guestUntil;
    app.value = await openApp(found);
    const link = linked();
    if (link !== null) goInstead('approve', link);
    entry.value = found;
  }, texts.value.failed.open);
}

function Page() {
  const now = entry.value;
  if (now === null) {
    return (
      <div class="boot" role="status">
        <span class="boot-mark" />
        <span class="unseen">{texts.value.app.loading}</span>
      </div>
    );
  }
  if (now.kind === 'unreachable') return <Unreachable enter={enter} />;
  if (now.kind === 'nameless') return <NameDevice enter={enter} />;
  if (now.kind === 'out') return <Welcome login={now.login} ended={tabWords.get(ENDED)} enter={enter} />;
  return (
    <AppContext.Provider value={app.value}>
      <Shell />
    </AppContext.Provider>
  );
}

effect(() => {
  document.documentElement.lang = language.value;
});

// A session that is over leads back to the beginning, with the reason: everything that belonged to it is gone with the
// page.
effect(() => {
  const reason = endedBy.value;
  if (reason === null) return;
  tabWords.set(ENDED, reason);
  history.replaceState(null, '', '/');
  location.reload();
});

onWorkerMessage(({ data }: MessageEvent<{ type?: string; path?: string }>) => {
  if (data.type === 'open' && data.path?.startsWith('/#/')) location.hash = data.path.slice(1);
});

function draw(root: HTMLElement): void {
  root.textContent = '';
  render(
    <>
      <Page />
      <NoticeList />
    </>,
    root,
  );
}

async function drawInLanguage(): Promise<void> {
  await startLanguage();
  const root = document.getElementById('app');
  if (root !== null) draw(root);
}

startTheme();
watchLeaving();
takeJoining();
const isLinked = takeLink();

/**
 * A user who opened a code is signed in first. A user who comes back from the login without a session decides with a
 * button.
 */
async function begin(): Promise<void> {
  const found = await findEntry();
  const finished = finishSigningOut(found.kind === 'in' ? found : null).catch(() => {});
  // A browser may never answer for what it stores.
  if (found.kind !== 'in')
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, FINISHED_WITHIN_MS))]);
  enter(found);
  if (isLinked && found.kind === 'out' && found.login === 'broker') goToLogin();
}

attempt(() => Promise.all([drawInLanguage(), begin()]), texts.value.failed.open);
void registerWorker();
// A page may stay open for days after a worker that could not be installed.
document.addEventListener('visibilitychange', () => void registerWorker());
