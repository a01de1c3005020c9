import { useSignal } from '@preact/signals';
import { MonitorSmartphone } from 'lucide';
import { useEffect } from 'preact/hooks';
import { isAlways, setAlways } from '../../files/always.ts';
import { texts } from '../../texts/texts.ts';
import { findPeer, isGuest, useApp } from '../app-context.ts';
import { go, hrefOf } from '../navigation.ts';
import { confirmed } from '../parts/dialog.tsx';
import { attempt } from '../parts/notices.ts';
import { Empty, Pane } from '../parts/parts.tsx';
import { removeDevice } from './removing.ts';
import { DevicePicture, presenceText } from './device-list.tsx';
import { stayOf, stayText } from './stays.tsx';

/** Shows whether this browser takes files of this device without asking. */
function AlwaysAccept({ id }: { id: string }) {
  const { history } = useApp();
  const isOn = useSignal(false);
  const { about } = texts.value;
  useEffect(() => {
    void isAlways(history, id).then((now) => {
      isOn.value = now;
    });
  }, [id]);
  const choose = (isWanted: boolean) =>
    attempt(async () => {
      await setAlways(history, id, isWanted);
      isOn.value = isWanted;
    }, texts.value.failed.setting);
  return (
    <section class="card">
      <label class="check">
        <input type="checkbox" checked={isOn.value} onChange={(event) => choose(event.currentTarget.checked)} />
        <span class="device-words">
          {about.accept}
          <small>{about.acceptWhy}</small>
        </span>
      </label>
    </section>
  );
}

/** Shows a device, and how this browser handles its files. */
export function AboutPane({ id }: { id: string }) {
  const app = useApp();
  const { about, approve, settings } = texts.value;
  const peer = findPeer(id);
  if (peer === undefined) {
    return (
      <Pane title={about.title}>
        <Empty node={MonitorSmartphone} title={about.gone} />
      </Pane>
    );
  }
  const kinds: Readonly<Record<string, string>> = approve.kinds;
  const signOut = () =>
    attempt(async () => {
      const title = settings.removeTitle(peer.name);
      if (!(await confirmed({ title, why: settings.removeWhy, action: settings.remove }))) return;
      await removeDevice(app, id);
      go();
    }, texts.value.failed.signOut);
  const stay = stayOf(id);
  const rows = [
    [about.kind, kinds[peer.type ?? ''] ?? ''],
    [about.presence, presenceText(peer)],
    [about.access, stay === undefined ? '' : stayText(stay)],
  ].filter(([, value]) => value !== '');
  return (
    <Pane title={peer.name} before={<DevicePicture peer={peer} />}>
      <div class="pane-body">
        <dl class="facts">
          {rows.map(([what, value]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <AlwaysAccept id={id} />
        <div class="row start">
          <a class="button" href={hrefOf('device', id)}>
            {about.open}
          </a>
          {!isGuest.value && (
            <button type="button" class="button danger-text" onClick={signOut}>
              {about.signOut}
            </button>
          )}
        </div>
      </div>
    </Pane>
  );
}
