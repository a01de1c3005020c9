import { useSignal } from '@preact/signals';
import { proposeDeviceName } from '../../../../shared/client/index.ts';
import { mayHaveKeys } from '../../sealing/may-have-keys.ts';
import { shared } from '../../engine/shared-state.ts';
import { chooseLanguage, LANGUAGE_NAMES, type Language, language, texts } from '../../texts/texts.ts';
import { isGuest, peers, useApp } from '../app-context.ts';
import { Choice } from '../parts/choice.tsx';
import { EncryptionSettings } from '../keys/encryption-settings.tsx';
import { chooseTheme, theme, THEMES } from '../theme.ts';
import { confirmed } from '../parts/dialog.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { NotificationSettings } from './notification-settings.tsx';
import { Pane } from '../parts/parts.tsx';
import { SessionSettings } from './session-settings.tsx';

const LANGUAGES = Object.keys(LANGUAGE_NAMES) as Language[];

function DeviceName() {
  const { client, entry } = useApp();
  const own = peers.value.find(({ isCurrent }) => isCurrent)?.name ?? entry.deviceName;
  const typed = useSignal<string | null>(null);
  const { settings, name } = texts.value;
  const wanted = (typed.value ?? own).trim();
  const plain = proposeDeviceName(wanted);
  const isChanged = wanted !== '' && plain !== wanted;
  const submit = (event: Event) => {
    event.preventDefault();
    attempt(async () => {
      await client.devices.rename(entry.deviceId, plain);
      typed.value = null;
    }, texts.value.failed.rename);
  };
  return (
    <section class="card" aria-labelledby="this-device">
      <h2 id="this-device">{settings.thisDevice}</h2>
      <form class="field-row" onSubmit={submit}>
        <label class="field">
          <span>{name.label}</span>
          <input
            maxLength={32}
            required
            autocomplete="off"
            value={typed.value ?? own}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
        <button class="button" disabled={typed.value === null || typed.value === own}>
          {settings.rename}
        </button>
      </form>
      {isChanged && <p class="hint">{name.called(plain)}</p>}
    </section>
  );
}

function ThemeChoice() {
  const { settings } = texts.value;
  return (
    <section class="card">
      <Choice
        legend={settings.theme}
        options={THEMES.map((one) => [one, settings.themes[one]] as const)}
        chosen={theme.value}
        choose={chooseTheme}
      />
    </section>
  );
}

function LanguageChoice() {
  const { settings } = texts.value;
  const choose = ({ currentTarget }: { currentTarget: HTMLSelectElement }) => {
    const next = currentTarget.value as Language;
    attempt(() => chooseLanguage(next), texts.value.failed.setting);
  };
  return (
    <section class="card">
      <label class="field">
        <span>{settings.language}</span>
        <select value={language.value} onChange={choose}>
          {LANGUAGES.map((one) => (
            <option key={one} value={one} lang={one}>
              {LANGUAGE_NAMES[one]}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}

function Account() {
  const { client, entry, keys, outbox, signOut: signOutHere } = useApp();
  const { settings } = texts.value;
  const signOut = () =>
    attempt(async () => {
      const why = settings.signOutWhy(await outbox.count());
      const asked = { title: settings.signOutTitle, why, action: settings.signOut };
      if (!(await confirmed(asked))) return;
      await signOutHere();
    }, texts.value.failed.signOut);
  const erase = () =>
    attempt(async () => {
      const asked = { title: settings.eraseTitle, why: settings.eraseWhy, action: settings.erase };
      if (!(await confirmed(asked))) return;
      // Without keys the erasure of an encrypted account is announced a day before, and the bar of all devices says so.
      const announced = (await mayHaveKeys())
        ? await (await keys.open()).eraseAccount()
        : await client.eraseAccountData();
      if (!announced) notify(settings.erased);
    }, texts.value.failed.remove);
  return (
    <section class="card" aria-labelledby="account">
      <h2 id="account">{settings.account}</h2>
      <p class="hint" dir="auto">
        {settings.signedInAs(shared.value.me?.name ?? entry.userName)}
      </p>
      <div class="row start">
        <button type="button" class="button" onClick={signOut}>
          {settings.signOut}
        </button>
        {!isGuest.value && (
          <button type="button" class="button danger-text" onClick={erase}>
            {settings.erase}
          </button>
        )}
      </div>
    </section>
  );
}

export function SettingsPane() {
  const { settings } = texts.value;
  return (
    <Pane title={settings.title}>
      <div class="pane-body">
        {!isSecureContext && <p class="hint">{settings.insecure}</p>}
        <DeviceName />
        <NotificationSettings />
        <EncryptionSettings />
        {!isGuest.value && <SessionSettings />}
        <ThemeChoice />
        <LanguageChoice />
        <Account />
        <p class="hint">
          {settings.about}: <a href="/api/docs">{settings.api}</a>
        </p>
      </div>
    </Pane>
  );
}
