import { useSignal } from '@preact/signals';
import { Camera } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { readSignInLink } from '../../../../shared/client/index.ts';
import { scan } from '../../scan/scanner.ts';
import { texts } from '../../texts/texts.ts';
import { Icon } from '../parts/icon.tsx';
import { go } from '../navigation.ts';
import { Pane } from '../parts/parts.tsx';
import { QrCode } from '../parts/qr-code.tsx';

/** The camera, until it has seen the code of a sign-in. */
function Scanner({ onFound, onFailed }: { onFound: (link: string) => void; onFailed: () => void }) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const stopping = new AbortController();
    const element = video.current;
    if (element !== null) {
      scan(element, (text) => readSignInLink(text) !== null, stopping.signal).then(onFound, () => {
        if (!stopping.signal.aborted) onFailed();
      });
    }
    return () => stopping.abort();
  }, []);
  return (
    <div class="scanner">
      <video ref={video} muted playsInline aria-hidden="true" />
      <p class="hint centred" role="status">
        {texts.value.add.looking}
      </p>
    </div>
  );
}

export function AddPane() {
  const isScanning = useSignal(false);
  const hasNoCamera = useSignal(false);
  const link = useSignal('');
  const isWrong = useSignal(false);
  const { add } = texts.value;
  const found = (text: string) => go('approve', text);
  const submit = (event: Event) => {
    event.preventDefault();
    isWrong.value = readSignInLink(link.value.trim()) === null;
    if (!isWrong.value) found(link.value.trim());
  };
  return (
    <Pane title={add.title}>
      <div class="pane-body">
        <p class="lead">{add.how}</p>
        <div class="address">
          <QrCode text={location.origin} label={location.origin} />
          <strong dir="ltr">{location.host}</strong>
        </div>
        {isScanning.value && (
          <Scanner
            onFound={found}
            onFailed={() => {
              isScanning.value = false;
              hasNoCamera.value = true;
            }}
          />
        )}
        {hasNoCamera.value && (
          <p class="item-error" role="status">
            {add.noCamera}
          </p>
        )}
        <div class="row start">
          <button
            type="button"
            class="button primary"
            onClick={() => {
              isScanning.value = !isScanning.value;
              hasNoCamera.value = false;
            }}
          >
            <Icon node={Camera} size={18} /> {isScanning.value ? add.stop : add.scan}
          </button>
        </div>
        <form class="stack" onSubmit={submit}>
          <label class="field">
            <span>{add.link}</span>
            <input
              type="url"
              inputMode="url"
              autocomplete="off"
              dir="ltr"
              aria-invalid={isWrong.value}
              value={link.value}
              onInput={(event) => {
                link.value = event.currentTarget.value;
              }}
            />
          </label>
          {isWrong.value && (
            <p class="item-error" role="status">
              {add.notALink}
            </p>
          )}
          <div class="row">
            <button class="button">{add.open}</button>
          </div>
        </form>
      </div>
    </Pane>
  );
}
