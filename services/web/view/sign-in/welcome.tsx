import { useSignal } from '@preact/signals';
import { LogIn, QrCode as QrIcon } from 'lucide';
import type { ComponentChildren } from 'preact';
import { becomeDevice, type Entry, enterAs, findEntry, goToLogin } from '../../session/entry.ts';
import { texts } from '../../texts/texts.ts';
import { Icon } from '../parts/icon.tsx';
import { later } from '../parts/later.tsx';
import { attempt } from '../parts/notices.ts';
import { joining } from '../../session/joining.ts';
import { endLink, linked } from '../../session/linked.ts';

/** Loaded only when a sign-in needs them. */
const NameForm = later(async () => (await import('./name-form.tsx')).NameForm);
const Join = later(async () => (await import('./join.tsx')).Join);
const SignInCode = later(async () => (await import('./sign-in-code.tsx')).SignInCode);

type Enter = (entry: Entry) => void;

/** Shows the page before the app: one card in the middle. */
function Front({ children }: { children: ComponentChildren }) {
  return (
    <main class="front" id="content">
      <div class="front-card">
        <p class="brand">
          <span class="brand-mark" aria-hidden="true" />
          Baton
        </p>
        {children}
      </div>
    </main>
  );
}

function DevelopmentLogin({ enter }: { enter: Enter }) {
  const name = useSignal('');
  const { welcome } = texts.value;
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.value.trim() === '') return;
    enterAs(name.value.trim());
    attempt(async () => enter(await findEntry()), texts.value.failed.signIn);
  };
  return (
    <form class="stack" onSubmit={submit}>
      <label class="field">
        <span>{welcome.userName}</span>
        <input
          required
          maxLength={128}
          autocomplete="username"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
      </label>
      <p class="hint">{welcome.anyName}</p>
      <button class="button primary wide">{welcome.signIn}</button>
    </form>
  );
}

export function Welcome({ login, ended, enter }: { login: string; ended: string | null; enter: Enter }) {
  const isWithCode = useSignal(false);
  const invited = useSignal(joining());
  const isLinked = useSignal(linked() !== null);
  const { welcome, app, link } = texts.value;
  const reasons: Readonly<Record<string, string>> = welcome.ended;
  if (invited.value !== null) {
    return (
      <Front>
        <Join
          invited={invited.value}
          enter={enter}
          leave={() => {
            invited.value = null;
          }}
        />
      </Front>
    );
  }
  if (isWithCode.value) {
    return (
      <Front>
        <SignInCode
          enter={enter}
          back={() => {
            isWithCode.value = false;
          }}
        />
      </Front>
    );
  }
  const why = (ended === null ? null : reasons[ended]) ?? app.tagline;
  return (
    <Front>
      <h1>{isLinked.value ? link.title : welcome.title}</h1>
      <p class="lead">{isLinked.value ? link[login === 'none' ? 'elsewhere' : 'why'] : why}</p>
      <div class="stack">
        {login === 'broker' && (
          <button type="button" class="choice primary" onClick={goToLogin}>
            <Icon node={LogIn} />
            <span>
              <strong>{welcome.signIn}</strong>
              <small>{welcome.signInWhy}</small>
            </span>
          </button>
        )}
        {login === 'development' && <DevelopmentLogin enter={enter} />}
        {login === 'none' && <p class="hint">{welcome.noLogin}</p>}
        {isLinked.value && (
          <button
            type="button"
            class="button wide"
            onClick={() => {
              endLink();
              isLinked.value = false;
            }}
          >
            {link.leave}
          </button>
        )}
        {login !== 'development' && !isLinked.value && (
          <button
            type="button"
            class="choice"
            onClick={() => {
              isWithCode.value = true;
            }}
          >
            <Icon node={QrIcon} />
            <span>
              <strong>{welcome.other}</strong>
              <small>{welcome.otherWhy}</small>
            </span>
          </button>
        )}
      </div>
    </Front>
  );
}

export function NameDevice({ enter }: { enter: Enter }) {
  const { name } = texts.value;
  return (
    <Front>
      <NameForm title={name.title} why={name.why} done={async (plain) => enter(await becomeDevice(plain))} />
    </Front>
  );
}

export function Unreachable({ enter }: { enter: Enter }) {
  const { welcome, app } = texts.value;
  return (
    <Front>
      <h1>{welcome.unreachable}</h1>
      <p class="lead">{welcome.unreachableWhy}</p>
      <button
        type="button"
        class="button primary wide"
        onClick={() => attempt(async () => enter(await findEntry()), texts.value.failed.open)}
      >
        {app.retry}
      </button>
    </Front>
  );
}
