import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { cookieSession, requestSignIn } from '../../../../shared/client/index.ts';
import { proposedName } from '../../session/device.ts';
import { type Entry, findEntry } from '../../session/entry.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { codeOf, notify } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { QrCode } from '../parts/qr-code.tsx';

type State = { kind: 'asking' } | { kind: 'shown'; link: string; until: number } | { kind: 'over'; why: string };

/** The code by which a device that is signed in lets this one in. */
export function SignInCode({ enter, back }: { enter: (entry: Entry) => void; back: () => void }) {
  const state = useSignal<State>({ kind: 'asking' });
  const turn = useSignal(0);
  const { qr, app } = texts.value;
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const ask = async () => {
      state.value = { kind: 'asking' };
      const about = { baseUrl: '', deviceName: proposedName(), deviceType: 'browser' as const };
      const request = await requestSignIn({ ...about, session: cookieSession(), signal });
      state.value = { kind: 'shown', link: request.link, until: request.expiresAt };
      await request.approved({ signal });
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

function CopyLink({ link }: { link: string }) {
  const copy = () => {
    navigator.clipboard?.writeText(link).then(
      () => notify(texts.value.app.copied),
      () => {},
    );
  };
  return (
    <button type="button" class="button" onClick={copy}>
      {texts.value.qr.copy}
    </button>
  );
}

function CodeOf({ state }: { state: State }) {
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
      <TimeLeft until={state.until} />
      <a class="link-text" href={state.link} tabIndex={-1}>
        {state.link}
      </a>
    </>
  );
}

function TimeLeft({ until }: { until: number }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return <p class="hint centred">{texts.value.qr.left(Math.max(0, Math.ceil((until - now.value) / 1_000)))}</p>;
}
