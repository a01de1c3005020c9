import { useSignal } from '@preact/signals';
import { MessageSquareDot } from 'lucide';
import { useEffect } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import { onPermissionChange } from '../../push/keeping.ts';
import { mendPush, type PushState, turnPushOff, turnPushOn } from '../../push/push.ts';
import type { Preview } from '../../service-worker/here.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { Choice } from '../parts/choice.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt, notify } from '../parts/notices.ts';

/** Shows the settings of notifications. The app asks for the permission only here, when the user wants it. */
export function NotificationSettings() {
  const app = useApp();
  const { client } = app;
  const state = useSignal<PushState | null>(null);
  const preview = useSignal<Preview>('none');
  const isBusy = useSignal(false);
  const { settings } = texts.value;
  useEffect(() => {
    // If storage throws, no choice can be kept either.
    const look = async (): Promise<void> => {
      state.value = await mendPush(app).catch(() => 'impossible' as const);
    };
    void look();
    return onPermissionChange(() => void look());
  }, []);
  /** Runs a change. If the push service cannot be reached, the browser may take minutes to fail. */
  const set = (work: () => Promise<PushState>) => () => {
    isBusy.value = true;
    attempt(async () => {
      try {
        state.value = await work();
      } finally {
        isBusy.value = false;
      }
    }, texts.value.failed.notifications);
  };
  const isOffered = shared.value.me?.features.web_push !== false;
  const words = {
    on: settings.pushOn,
    off: settings.pushOff,
    denied: settings.pushDenied,
    asks: settings.pushAsks,
    broken: settings.pushBroken,
    unknown: settings.pushUnknown,
    impossible: settings.pushImpossible,
  }[state.value ?? 'off'];
  const canBeTurnedOn = state.value === 'off' || state.value === 'asks' || state.value === 'broken';
  return (
    <section class="card" aria-labelledby="notifications">
      <h2 id="notifications">{settings.notifications}</h2>
      <p class="hint">{isOffered ? words : settings.pushDisabled}</p>
      <p class="hint" role="status">
        {isBusy.value && settings.pushWaiting}
      </p>
      {isOffered && canBeTurnedOn && (
        <>
          <Choice<Preview>
            legend={settings.preview}
            options={[
              ['none', settings.previewNone],
              ['sender', settings.previewSender],
              ['full', settings.previewFull],
            ]}
            chosen={preview.value}
            choose={(value) => {
              preview.value = value;
            }}
          />
          <div class="row start">
            <button
              type="button"
              class="button primary"
              disabled={isBusy.value}
              onClick={set(() => turnPushOn(app, preview.value))}
            >
              <Icon node={MessageSquareDot} size={18} /> {settings.turnOn}
            </button>
          </div>
        </>
      )}
      {state.value === 'on' && (
        <div class="row start">
          <button
            type="button"
            class="button"
            onClick={() =>
              attempt(async () => {
                await client.push.test();
                notify(settings.tested);
              }, texts.value.failed.notifications)
            }
          >
            {settings.test}
          </button>
          <button type="button" class="button" disabled={isBusy.value} onClick={set(() => turnPushOff(app))}>
            {settings.turnOff}
          </button>
        </div>
      )}
    </section>
  );
}
