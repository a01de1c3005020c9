import { useSignal } from '@preact/signals';
import { Lock, LockOpen } from 'lucide';
import { useEffect, useMemo } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import type { KeyedDevice } from '../../sealing/key-account.ts';
import { keyState, members } from '../../sealing/key-state.ts';
import { failureOf } from '../../outbox/verdict.ts';
import { isKeyProblem } from '../../../../shared/client/sealing/key-problems.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { errorText } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { confirmed } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { MakeAnew, StartAnew } from './anew.tsx';
import { GettingKey, UsingWords } from './getting-key.tsx';
import { makeNewestReading } from './newest-reading.ts';
import { WordsState } from './words-state.tsx';

function DeviceOfRing({ device }: { device: KeyedDevice }) {
  const { name, kind, fingerprint } = device;
  const words = keyTexts.value;
  return (
    <li class="session">
      <Icon node={fingerprint === null ? LockOpen : Lock} />
      <span class="device-words">
        <span class="device-name" dir="auto">
          {kind === 'words' ? words.words : (name ?? words.gone)}
        </span>
        {kind === 'guest' && <small class="key-advice">{words.guest}</small>}
        {fingerprint === null ? (
          <small class="key-advice">{words.noKeys}</small>
        ) : (
          <small class="fingerprint" dir="ltr">
            {fingerprint}
          </small>
        )}
      </span>
    </li>
  );
}

/** Lists the devices that know another ring. One of them may be in other hands. */
function Disagreeing() {
  const { keys } = useApp();
  const devices = useSignal<readonly KeyedDevice[]>([]);
  const { devices: listed, ringNumber, keysHeard } = shared.value;
  const readNewest = useMemo(() => makeNewestReading(async () => (await keys.open()).disagreeing()), []);
  useEffect(() => {
    void readNewest(
      (found) => {
        devices.value = found;
      },
      // The problem itself is shown. The next change reads again.
      () => {},
    );
  }, [listed, ringNumber, keysHeard]);
  if (devices.value.length === 0) return null;
  return (
    <>
      <p class="hint">{keyTexts.value.disagreeing}</p>
      <ul class="sessions">
        {devices.value.map((device) => (
          <DeviceOfRing key={device.device_id} device={device} />
        ))}
      </ul>
    </>
  );
}

/** Says why the keys of this browser cannot be used, and offers the one thing to do. */
function Problem({ code, again }: { code: string; again: () => void }) {
  const words = keyTexts.value;
  const isLinked = code === 'devices_disagree' || code === 'link_again' || code === 'keys_lost' || code === 'unkeyed';
  return (
    <>
      <p class="item-error" role="status">
        {errorText(code)}
      </p>
      {code === 'keys_gone' ? (
        <MakeAnew />
      ) : isLinked ? (
        <>
          {code === 'devices_disagree' && <Disagreeing />}
          <GettingKey />
          {code === 'keys_lost' && <UsingWords />}
        </>
      ) : (
        <div class="row start">
          <button type="button" class="button" onClick={again}>
            {words.again}
          </button>
        </div>
      )}
    </>
  );
}

/** Takes out of the ring the members that are no longer signed in. */
function Gone({ gone, onDone }: { gone: readonly KeyedDevice[]; onDone: () => Promise<void> }) {
  const { keys } = useApp();
  const words = keyTexts.value;
  const replace = () =>
    attempt(async () => {
      const asked = { title: words.replaceTitle, why: words.replaceWhy, action: words.replace };
      if (!(await confirmed(asked))) return;
      await (await keys.open()).remove(gone.map(({ device_id }) => device_id));
      await onDone();
      notify(words.replaced);
    }, words.failed);
  return (
    <>
      <p class="hint">{words.keepsPlace}</p>
      <div class="row start">
        <button type="button" class="button" onClick={replace}>
          {words.replace}
        </button>
      </div>
    </>
  );
}

/** Lists the devices with keys and the fingerprint of each, and those that are still to be linked. */
export function Keyed() {
  const { keys } = useApp();
  const devices = useSignal<readonly KeyedDevice[] | null>(null);
  const problem = useSignal('');
  const words = keyTexts.value;
  const { devices: listed, ringNumber } = shared.value;
  const isGuest = keyState.value.isGuest === true;
  const readNewest = useMemo(() => makeNewestReading(async () => (await keys.open()).devices()), []);
  const read = (): Promise<void> =>
    readNewest(
      (found) => {
        devices.value = found;
        problem.value = '';
      },
      (error) => {
        const failure = failureOf(error);
        // A code that is shown for a problem stays, although the service cannot be asked again.
        if (problem.value === '' || isKeyProblem(failure)) problem.value = failure.code;
      },
    );
  const readAgain = (): void => void read();
  useEffect(readAgain, [listed, ringNumber, members.value]);
  if (problem.value !== '') return <Problem code={problem.value} again={readAgain} />;
  const gone = (devices.value ?? []).filter(
    ({ isMember, name, kind }) => isMember && name === null && kind !== 'words',
  );
  return (
    <>
      <p class="hint">{isGuest ? words.onGuest : words.on}</p>
      {devices.value === null && <Waiting />}
      <ul class="sessions">
        {devices.value?.map((device) => (
          <DeviceOfRing key={device.device_id} device={device} />
        ))}
      </ul>
      {!isGuest && <WordsState />}
      {!isGuest && gone.length > 0 && <Gone gone={gone} onDone={read} />}
      <p class="hint">{words.trust}</p>
      {!isGuest && <StartAnew isMember />}
    </>
  );
}
