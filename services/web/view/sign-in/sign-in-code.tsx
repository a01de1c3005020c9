import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { cookieSession, requestSignIn } from '../../../../shared/client/index.ts';
import { type Entry, findEntry } from '../../session/entry.ts';
import { timedFetch } from '../../server-time.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { isLetIn } from '../landing.ts';
import { copyText } from '../parts/copying.ts';
import { Countdown } from '../parts/countdown.tsx';
import { codeOf } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { QrCode } from '../parts/qr-code.tsx';
import { NameForm } from './name-form.tsx';

export type CodeState =
  | { kind: 'asking' }
  | { kind: 'shown'; link: string; until: number }
  | { kind: 'over'; why: string };

interface SignInCodeProps {
  enter: (entry: Entry) => void;
  back: () => void;
}

/** Asks for a name, and shows the code by which a device that is signed in lets this one in under it. */
export function SignInCode({ enter, back }: SignInCodeProps) {
  const name = useSignal<string | null>(null);
  const { name: words } = texts.value;
  if (name.value !== null) return <NamedCode name={name.value} enter={enter} back={back} />;
  return (
    <NameForm
      title={words.title}
      why={words.why}
      done={(chosen) => {
        name.value = chosen;
      }}
      back={back}
    />
  );
}

function NamedCode({ name, enter, back }: SignInCodeProps & { name: string }) {
  const state = useSignal<CodeState>({ kind: 'asking' });
  const turn = useSignal(0);
  const { qr, app } = texts.value;
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const ask = async () => {
      state.value = { kind: 'asking' };
      const about = { baseUrl: '', fetch: timedFetch, deviceName: name, deviceType: 'browser' as const };
      const asking = await (await import('../../sealing/sign-in-keys.ts')).askWithKeys();
      const ofKeys = asking === null ? {} : { keys: asking.keys, onApproved: asking.keep };
      const request = await requestSignIn({ ...about, ...ofKeys, session: cookieSession(), signal });
      const link = asking === null ? request.link : await asking.linkWith(request.link);
      state.value = { kind: 'shown', link, until: request.expires_at };
      await request.approved({ signal });
      isLetIn.value = true;
      enter(await findEntry());
    };
    ask().catch((error: unknown) => {
      if (!signal.aborted) state.value = { kind: 'over', why: codeOf(error) };
    });
    return () => stopping.abort();
  }, [turn.value]);

  return (
    <div class="stack">
      <h1>{qr.title}</h1>
      <p class="lead">{qr.how}</p>
      <CodeOf state={state.value} />
      <div class="row">
        <button type="button" class="button" onClick={back}>
          {app.back}
        </button>
        {state.value.kind === 'over' && (
          <button
            type="button"
            class="button primary"
            onClick={() => {
              turn.value += 1;
            }}
          >
            {qr.again}
          </button>
        )}
        {state.value.kind === 'shown' && <CopyLink link={state.value.link} />}
      </div>
    </div>
  );
}

export function CopyLink({ link }: { link: string }) {
  return (
    <button type="button" class="button" onClick={() => void copyText(link)}>
      {texts.value.qr.copy}
    </button>
  );
}

/** Shows a code, the time that is left, and the link as text. */
export function CodeOf({ state }: { state: CodeState }) {
  const { qr } = texts.value;
  if (state.kind === 'asking') {
    return (
      <div class="qr-frame">
        <Waiting />
      </div>
    );
  }
  if (state.kind === 'over') {
    const why = { login_expired: qr.expired, access_denied: qr.denied }[state.why] ?? errorText(state.why);
    return (
      <div class="qr-frame over" role="status">
        {why}
      </div>
    );
  }
  return (
    <>
      <div class="qr-frame">
        <QrCode text={state.link} label={qr.alt} />
      </div>
      <p class="hint centred">
        <Countdown until={state.until} text={(seconds) => qr.left(Math.ceil(seconds))} />
      </p>
      <a class="link-text" href={state.link} tabIndex={-1}>
        {state.link}
      </a>
    </>
  );
}
