import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { cookieSession, requestSignIn } from '../../../../shared/client/index.ts';
import { type Entry, findEntry } from '../../session/entry.ts';
import { inviteDigits } from '../../../../shared/client/session/invites.ts';
import { endJoining, type Joining } from '../../session/joining.ts';
import { timedFetch } from '../../server-time.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { isLetIn } from '../landing.ts';
import { Countdown } from '../parts/countdown.tsx';
import { codeOf } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { NameForm } from './name-form.tsx';

type Enter = (entry: Entry) => void;

/** Asks for a name, then asks the device that made the invite to let this one in. */
export function Join({ invited, enter, leave }: { invited: Joining; enter: Enter; leave: () => void }) {
  const name = useSignal<string | null>(null);
  const back = () => {
    endJoining();
    leave();
  };
  const { join } = texts.value;
  return name.value === null ? (
    <NameForm
      title={join.title}
      why={join.why}
      done={(chosen) => {
        name.value = chosen;
      }}
      back={back}
    />
  ) : (
    <JoinWaiting name={name.value} invited={invited} enter={enter} back={back} />
  );
}

type State = { kind: 'asking' } | { kind: 'shown'; digits: string; until: number } | { kind: 'over'; why: string };

function JoinWaiting(props: { name: string; invited: Joining; enter: Enter; back: () => void }) {
  const { name, invited, enter, back } = props;
  const state = useSignal<State>({ kind: 'asking' });
  const { join, qr, app } = texts.value;
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const ask = async () => {
      const about = { baseUrl: '', fetch: timedFetch, deviceName: name, deviceType: 'browser' as const };
      const { invite, secret, isKeyed } = invited;
      const asking = isKeyed ? await (await import('../../sealing/sign-in-keys.ts')).askWithKeys(secret) : null;
      const ofKeys = asking === null ? {} : { keys: asking.keys, onApproved: asking.keep };
      const request = await requestSignIn({ ...about, ...ofKeys, invite, session: cookieSession(), signal });
      // The invite serves one request, so a reload has to begin again.
      endJoining();
      const digits =
        asking === null ? inviteDigits(secret, request.request_id) : await asking.digitsFor(request.request_id);
      state.value = { kind: 'shown', digits, until: request.expires_at };
      await request.approved({ signal });
      isLetIn.value = true;
      enter(await findEntry());
    };
    ask().catch((error: unknown) => {
      if (!signal.aborted) state.value = { kind: 'over', why: codeOf(error) };
    });
    return () => stopping.abort();
  }, []);
  if (state.value.kind === 'asking') return <Waiting />;
  if (state.value.kind === 'over') {
    const { why } = state.value;
    const said = { not_found: join.used, login_expired: qr.expired, access_denied: qr.denied }[why] ?? errorText(why);
    return (
      <div class="stack">
        <h1>{join.ended}</h1>
        <p class="lead" role="status">
          {said} {join.again}
        </p>
        <button type="button" class="button wide" onClick={back}>
          {app.back}
        </button>
      </div>
    );
  }
  const { digits, until } = state.value;
  return (
    <div class="stack">
      <h1>{join.type}</h1>
      <p class="digits" dir="ltr" aria-label={Array.from(digits).join(' ')}>
        {digits.slice(0, 3)} {digits.slice(3)}
      </p>
      <p class="lead">{join.typeWhy}</p>
      <p class="hint centred">
        <Countdown until={until} text={(seconds) => qr.left(Math.ceil(seconds))} />
      </p>
      <button type="button" class="button wide" onClick={back}>
        {app.back}
      </button>
    </div>
  );
}
