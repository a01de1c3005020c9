import { useSignal } from '@preact/signals';
import { KeyRound, Lock, LockOpen } from 'lucide';
import { useEffect } from 'preact/hooks';
import { cookieSession } from '../../../../shared/client/index.ts';
import { shared } from '../../engine/shared-state.ts';
import type { KeyedDevice } from '../../sealing/key-account.ts';
import { keepKeyState, keyState } from '../../sealing/key-state.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { errorText } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { confirmed } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt, codeOf, notify } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { LinkCode } from './link-code.tsx';

function DeviceOfRing({ device }: { device: KeyedDevice }) {
  const { name, kind, fingerprint, isMember } = device;
  const words = keyTexts.value;
  return (
    <li class="session">
      <Icon node={isMember ? Lock : LockOpen} />
      <span class="device-words">
        <span class="device-name" dir="auto">
          {kind === 'words' ? words.words : (name ?? words.gone)}
        </span>
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

/** Lists the devices with keys and the fingerprint of each, and those that are still to be linked. */
function Keyed() {
  const { keys } = useApp();
  const devices = useSignal<readonly KeyedDevice[] | null>(null);
  const problem = useSignal('');
  const words = keyTexts.value;
  const { devices: listed, ringNumber } = shared.value;
  const read = async (): Promise<void> => {
    devices.value = await (await keys.open()).devices();
    problem.value = '';
  };
  useEffect(() => {
    read().catch((error: unknown) => {
      problem.value = errorText(codeOf(error));
    });
  }, [listed, ringNumber]);
  const gone = (devices.value ?? []).filter(
    ({ isMember, name, kind }) => isMember && name === null && kind !== 'words',
  );
  const replace = () =>
    attempt(async () => {
      const asked = { title: words.replaceTitle, why: words.replaceWhy, action: words.replace };
      if (!(await confirmed(asked))) return;
      await (await keys.open()).remove(gone.map(({ device_id }) => device_id));
      await read();
      notify(words.replaced);
    }, words.failed);
  return (
    <>
      <p class="hint">{words.on}</p>
      {problem.value !== '' && (
        <p class="item-error" role="status">
          {problem.value}
        </p>
      )}
      {devices.value === null && problem.value === '' && <Waiting />}
      <ul class="sessions">
        {devices.value?.map((device) => (
          <DeviceOfRing key={device.device_id} device={device} />
        ))}
      </ul>
      {gone.length > 0 && (
        <div class="row start">
          <button type="button" class="button primary" onClick={replace}>
            {words.replace}
          </button>
        </div>
      )}
      <p class="hint">{words.trust}</p>
    </>
  );
}

function Unkeyed() {
  const { keys, entry } = useApp();
  const isEncrypted = useSignal<boolean | null>(null);
  const isAsking = useSignal(false);
  const problem = useSignal('');
  const words = keyTexts.value;
  const { ringNumber, devices } = shared.value;
  useEffect(() => {
    keys
      .open()
      .then((sealing) => sealing.isEncrypted())
      .then(
        (found) => {
          isEncrypted.value = found;
        },
        (error: unknown) => {
          problem.value = errorText(codeOf(error));
        },
      );
  }, [ringNumber]);
  const create = () =>
    attempt(async () => {
      const others = devices.filter(({ device_id }) => device_id !== entry.deviceId).map(({ name }) => name);
      const asked = { title: words.createTitle, why: words.createWhy(others.join(', ')), action: words.create };
      if (!(await confirmed(asked))) return;
      await (await keys.open()).create();
      notify(words.created);
    }, words.failed);
  const isLost = keyState.value.kind === 'lost';
  if (problem.value !== '') return <p class="item-error">{problem.value}</p>;
  if (isEncrypted.value === null) return <Waiting />;
  if (!isEncrypted.value && !isLost) {
    return (
      <>
        <p class="hint">{words.off}</p>
        <div class="row start">
          <button type="button" class="button" onClick={create}>
            <Icon node={Lock} size={18} /> {words.create}
          </button>
        </div>
      </>
    );
  }
  return (
    <>
      <p class="hint">{isLost ? words.lost : words.noKey}</p>
      {isAsking.value ? (
        <LinkCode
          onOver={() => {
            isAsking.value = false;
          }}
        />
      ) : (
        <div class="row start">
          {isEncrypted.value && (
            <button
              type="button"
              class="button primary"
              onClick={() => {
                isAsking.value = true;
              }}
            >
              <Icon node={KeyRound} size={18} /> {words.get}
            </button>
          )}
          {isLost && (
            <button type="button" class="button" onClick={() => keepKeyState({ kind: 'none' })}>
              {words.without}
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** Tells whether this browser may have keys: with a session of its own that stays, over https, at a service that takes them. */
async function mayHaveKeys(): Promise<boolean> {
  const session = await cookieSession().load();
  return isSecureContext && session?.persist === 'persist' && session.scope === 'full';
}

/** Shows whether the account is encrypted, and the keys of its devices. */
export function EncryptionSettings() {
  const isPossible = useSignal(false);
  useEffect(() => {
    void mayHaveKeys().then((is) => {
      isPossible.value = is;
    });
  }, []);
  const { kind } = keyState.value;
  if (!isPossible.value || shared.value.me?.features.sealed !== true || kind === 'unconfirmed') return null;
  return (
    <section class="card" aria-labelledby="encryption">
      <h2 id="encryption">{keyTexts.value.title}</h2>
      {kind === 'keyed' ? <Keyed /> : <Unkeyed />}
    </section>
  );
}
