import { useSignal } from '@preact/signals';
import { Camera, ShieldAlert } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { type BatonClient, type Invite, readSignInLink } from '../../../../shared/client/index.ts';
import { requested, shared } from '../../engine/shared-state.ts';
import { serverNow } from '../../server-time.ts';
import { inviteLink, keyedInviteLink, newSecret } from '../../../../shared/client/session/invites.ts';
import { keyState } from '../../sealing/key-state.ts';
import { keepSecret } from '../../session/joining.ts';
import { scan } from '../../scan/scanner.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { isGuest, useApp } from '../app-context.ts';
import { Countdown } from '../parts/countdown.tsx';
import { codeOf } from '../parts/notices.ts';
import { CopyLink } from '../sign-in/sign-in-code.tsx';
import { Icon } from '../parts/icon.tsx';
import { go } from '../navigation.ts';
import { Empty, Pane, Waiting } from '../parts/parts.tsx';
import { QrCode } from '../parts/qr-code.tsx';

/** Shows the camera until it finds the code of a sign-in. */
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

type InviteState = { kind: 'asking' } | { kind: 'shown'; invite: Invite; link: string } | { kind: 'over'; why: string };

interface SecretInvite {
  invite: Invite;
  secret: string;
}

/** A code with less time than this is not shown again. */
const LEAST_LEFT_MS = 60_000;

/** The invite that was shown last. A device may make ten an hour, so the same one is shown again while nobody used it. */
let last: SecretInvite | null = null;
requested.subscribe((request) => {
  if (request !== null) last = null;
});

async function inviteOf(client: BatonClient): Promise<SecretInvite> {
  if (last !== null && last.invite.expires_at - serverNow() > LEAST_LEFT_MS) return last;
  const invite = await client.signIns.invite();
  const secret = newSecret();
  keepSecret(secret, invite.expires_at, serverNow());
  last = { invite, secret };
  return last;
}

/** Shows a code for the camera of the new device. */
function InviteCode() {
  const { client } = useApp();
  const state = useSignal<InviteState>({ kind: 'asking' });
  const turn = useSignal(0);
  const { add, qr } = texts.value;
  useEffect(() => {
    let isGone = false;
    state.value = { kind: 'asking' };
    inviteOf(client).then(
      ({ invite, secret }) => {
        const linkOf = keyState.peek().kind === 'keyed' ? keyedInviteLink : inviteLink;
        if (!isGone) state.value = { kind: 'shown', invite, link: linkOf(invite.link, secret) };
      },
      (error: unknown) => {
        if (!isGone) state.value = { kind: 'over', why: errorText(codeOf(error)) };
      },
    );
    return () => {
      isGone = true;
    };
  }, [turn.value]);
  const again = () => {
    turn.value += 1;
  };
  return (
    <section class="card">
      <h2>{add.invite}</h2>
      <p class="lead">{add.inviteHow}</p>
      {state.value.kind === 'asking' && (
        <div class="qr-frame">
          <Waiting />
        </div>
      )}
      {state.value.kind === 'shown' && (
        <>
          <div class="qr-frame">
            <QrCode text={state.value.link} label={add.inviteAlt} />
          </div>
          <p class="hint centred">
            <Countdown
              until={state.value.invite.expires_at}
              text={(seconds) => qr.left(Math.ceil(seconds))}
              onOver={() => {
                state.value = { kind: 'over', why: qr.expired };
              }}
            />
          </p>
          <div class="row centre">
            <CopyLink link={state.value.link} />
          </div>
        </>
      )}
      {state.value.kind === 'over' && (
        <>
          <div class="qr-frame over" role="status">
            {state.value.why}
          </div>
          <div class="row centre">
            <button type="button" class="button primary" onClick={again}>
              {qr.again}
            </button>
          </div>
        </>
      )}
    </section>
  );
}

/** Takes the code of the new device by the camera of this one, or its link. */
function ScanCode({ mayInvite }: { mayInvite: boolean }) {
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
    <section class="card">
      <h2>{mayInvite ? add.other : add.onlyWay}</h2>
      <p class="lead">{add.how}</p>
      <div class="address">
        {!mayInvite && <QrCode text={location.origin} label={location.origin} />}
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
    </section>
  );
}

/** Shows both ways to let a device in: it scans this one's code, or this one scans its code. */
export function AddPane() {
  const { add } = texts.value;
  const me = shared.value.me;
  const mayInvite = me?.features.qr === true && me.scope === 'full';
  return (
    <Pane title={add.title}>
      {isGuest.value ? (
        <Empty node={ShieldAlert} title={add.guest} why={add.guestWhy} />
      ) : (
        <div class="pane-body">
          {mayInvite && <p class="lead ways">{add.both}</p>}
          <div class="ways">
            {mayInvite && <InviteCode />}
            <ScanCode mayInvite={mayInvite} />
          </div>
        </div>
      )}
    </Pane>
  );
}
