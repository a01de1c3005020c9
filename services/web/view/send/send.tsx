import { useSignal } from '@preact/signals';
import { MonitorSmartphone, SendHorizontal } from 'lucide';
import { useEffect } from 'preact/hooks';
import { chosenOf } from '../../files/choosing.ts';
import { isRefusal, type ShareRefusal } from '../../service-worker/share-target.ts';
import { dropShare, findShare, type Share } from '../../service-worker/shares.ts';
import { bytesText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { others, useApp } from '../app-context.ts';
import { presenceText } from '../devices/device-list.tsx';
import { Icon } from '../parts/icon.tsx';
import { go } from '../navigation.ts';
import { attempt } from '../parts/notices.ts';
import { Empty, Names, Pane, Waiting } from '../parts/parts.tsx';
import { bytesOf, pending, sendFiles, sendMessage, textFile } from './sending.ts';

const MESSAGE_BYTES = 4_096;

const pendingOf = ({ id, files, text, isOwn }: Share) => ({
  ...{ files: chosenOf(files), text },
  share: { id, isFromOutside: !isOwn },
});

function RefusedShare({ why }: { why: ShareRefusal }) {
  const { send } = texts.value;
  return (
    <Pane title={send.title}>
      <div class="pane-body">
        <Empty node={SendHorizontal} title={send.refused[why]} />
      </div>
    </Pane>
  );
}

/** Takes over a share of the share sheet to send it. The share is kept until it is sent, for a reload. */
export function SharePane({ id }: { id: string }) {
  const { entry } = useApp();
  const isRead = useSignal(false);
  useEffect(() => {
    void findShare(id, entry.userId)
      .catch(() => null)
      .then((share) => {
        pending.value = share === null ? null : pendingOf(share);
        isRead.value = true;
      });
  }, [id]);
  if (isRefusal(id)) return <RefusedShare why={id} />;
  return isRead.value ? <SendPane /> : <Waiting />;
}

function What() {
  const { files, send } = texts.value;
  const what = pending.value;
  if (what === null) return null;
  const bytes = what.files.reduce((sum, { file }) => sum + file.size, 0);
  return (
    <div class="card">
      {what.files.length > 0 && (
        <p>
          <strong>{files.count(what.files.length)}</strong> <span class="hint">{bytesText(bytes)}</span>
          <br />
          <span class="hint" dir="auto">
            <Names of={what.files.slice(0, 3).map(({ name }) => name)} />
          </span>
        </p>
      )}
      {what.text !== '' && (
        <p class="found-words" dir="auto">
          {send.text}: <bdi>{what.text}</bdi>
        </p>
      )}
      {what.share?.isFromOutside === true && <p class="hint">{send.fromOutside}</p>}
    </div>
  );
}

/** Asks for the receiver of chosen content: one device, or several at once. */
export function SendPane() {
  const app = useApp();
  const chosen = useSignal<readonly string[]>([]);
  const isBusy = useSignal(false);
  const { send } = texts.value;
  const what = pending.value;
  const all = others.value.filter(({ kind }) => kind === 'device');
  const toggle = (id: string, isOn: boolean) => {
    chosen.value = isOn ? [...chosen.value, id] : chosen.value.filter((one) => one !== id);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const to = all.filter(({ id }) => chosen.value.includes(id));
    const [first] = to;
    // A second click would send all of it twice.
    if (what === null || first === undefined || isBusy.peek()) return;
    const handOver = async () => {
      const isLong = bytesOf(what.text) > MESSAGE_BYTES;
      const files = isLong ? [...what.files, textFile(what.text)] : what.files;
      if (files.length > 0 && !(await sendFiles(app, to, files))) return;
      if (what.text.trim() !== '' && !isLong) {
        for (const peer of to) await sendMessage(app, peer, what.text);
      }
      pending.value = null;
      if (what.share !== undefined) await dropShare(what.share.id).catch(() => {});
      go('device', first.id);
    };
    isBusy.value = true;
    const done = () => {
      isBusy.value = false;
    };
    attempt(() => handOver().finally(done), texts.value.failed.send);
  };
  return (
    <Pane title={send.title}>
      <div class="pane-body">
        {what === null && <Empty node={SendHorizontal} title={send.nothing} />}
        {what !== null && all.length === 0 && <Empty node={MonitorSmartphone} title={send.noDevices} />}
        {what !== null && all.length > 0 && (
          <form class="stack" onSubmit={submit}>
            <What />
            <fieldset class="choices">
              <legend>{send.to}</legend>
              {all.map((peer) => (
                <label key={peer.id} class="check">
                  <input
                    type="checkbox"
                    checked={chosen.value.includes(peer.id)}
                    onChange={(event) => toggle(peer.id, event.currentTarget.checked)}
                  />
                  <span class="device-words">
                    <span class="device-name" dir="auto">
                      {peer.name}
                    </span>
                    <small>{presenceText(peer)}</small>
                  </span>
                </label>
              ))}
            </fieldset>
            <div class="row">
              <button class="button primary" disabled={chosen.value.length === 0 || isBusy.value}>
                <Icon node={SendHorizontal} size={18} /> {send.done}
              </button>
            </div>
          </form>
        )}
      </div>
    </Pane>
  );
}
