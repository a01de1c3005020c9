import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { DeviceSession } from '../../../../shared/client/index.ts';
import { shared } from '../../engine/shared-state.ts';
import { agoText } from '../../texts/quantities.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { removeDevice, takeFromRing } from '../devices/removing.ts';
import { pictureOf, tintOf } from '../devices/device-pictures.ts';
import { stayText } from '../devices/stays.tsx';
import { confirmed } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt, codeOf, notify } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';

function aboutOf({ current, expires_at, last_active_at, persist, scope }: DeviceSession): string {
  const { settings } = texts.value;
  const parts = [
    ...(scope === 'guest' || persist === 'once' ? [stayText({ isGuest: scope === 'guest', until: expires_at })] : []),
    ...(current ? [settings.current] : last_active_at === null ? [] : [settings.active(agoText(last_active_at))]),
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

function SessionRow({ session, onRemoved }: { session: DeviceSession; onRemoved: () => void }) {
  const app = useApp();
  const { settings } = texts.value;
  const pictured = { type: session.type, name: session.name, kind: 'device' as const };
  const remove = () =>
    attempt(async () => {
      const title = settings.removeTitle(session.name);
      if (!(await confirmed({ title, why: settings.removeWhy, action: settings.remove }))) return;
      await removeDevice(app, session.device_id);
      onRemoved();
    }, texts.value.failed.signOut);
  return (
    <li class="session">
      <span class={`device-picture ${tintOf(pictured)} ${session.online ? 'is-online' : ''}`}>
        <Icon node={pictureOf(pictured)} />
      </span>
      <span class="device-words">
        <span class="device-name" dir="auto">
          {session.name}
        </span>
        <small>{aboutOf(session)}</small>
      </span>
      {!session.current && (
        <button type="button" class="button small" aria-label={`${settings.remove}: ${session.name}`} onClick={remove}>
          {settings.remove}
        </button>
      )}
    </li>
  );
}

export function SessionSettings() {
  const all = useApp();
  const { client } = all;
  const found = useSignal<{ sessions: DeviceSession[]; stale: boolean } | null>(null);
  const { settings, app } = texts.value;
  const { devices } = shared.value;
  const problem = useSignal('');
  const read = () =>
    void client.sessions.list().then(
      (list) => {
        found.value = list;
        problem.value = '';
      },
      (error: unknown) => {
        problem.value = `${texts.value.failed.sessions} ${errorText(codeOf(error))}`;
      },
    );
  useEffect(read, [devices]);
  const removeOthers = () =>
    attempt(async () => {
      const asked = { title: settings.othersTitle, why: settings.othersWhy, action: settings.others };
      if (!(await confirmed(asked))) return;
      const others = (found.value?.sessions ?? []).filter(({ current }) => !current);
      await takeFromRing(
        all,
        others.map(({ device_id }) => device_id),
      );
      notify(settings.othersDone(await client.sessions.removeOthers()));
      read();
    }, texts.value.failed.signOut);
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">{settings.sessions}</h2>
      {found.value === null && problem.value === '' && <Waiting />}
      {problem.value !== '' && (
        <>
          <p class="item-error" role="status">
            {problem.value}
          </p>
          <div class="row start">
            <button type="button" class="button" onClick={read}>
              {app.retry}
            </button>
          </div>
        </>
      )}
      {found.value?.stale === true && <p class="hint">{settings.stale}</p>}
      <ul class="sessions">
        {found.value?.sessions.map((session) => (
          <SessionRow key={session.device_id} session={session} onRemoved={read} />
        ))}
      </ul>
      {(found.value?.sessions.length ?? 0) > 1 && (
        <div class="row start">
          <button type="button" class="button" onClick={removeOthers}>
            {settings.others}
          </button>
        </div>
      )}
    </section>
  );
}
