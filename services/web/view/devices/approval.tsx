import { useSignal } from '@preact/signals';
import { TriangleAlert } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { type Persist, readSignInLink, type Scope, type SignInRequestView } from '../../../../shared/client/index.ts';
import { serverNow } from '../../server-time.ts';
import { inviteDigits } from '../../../../shared/client/session/invites.ts';
import { secretsOf } from '../../session/joining.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { noteApproval } from '../announcing.ts';
import { isGuest, useApp } from '../app-context.ts';
import { Icon } from '../parts/icon.tsx';
import { goInstead } from '../navigation.ts';
import { attempt, codeOf, notify } from '../parts/notices.ts';
import { Empty, Pane, Waiting } from '../parts/parts.tsx';

function Facts({ view }: { view: SignInRequestView }) {
  const { approve } = texts.value;
  const rows = [
    [approve.name, view.device_name],
    [approve.kind, approve.kinds[view.device_type]],
    [approve.from, `${view.source.address}, ${view.source.user_agent}`],
    [approve.when, approve.ago(view.age_seconds)],
  ];
  return (
    <dl class="facts">
      {rows.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ChoiceProps<T extends string> {
  legend: string;
  options: readonly (readonly [T, string])[];
  chosen: T;
  choose: (value: T) => void;
}

export function Choice<T extends string>({ legend, options, chosen, choose }: ChoiceProps<T>) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {options.map(([value, label]) => (
        <label key={value} class="check">
          <input type="radio" name={legend} checked={value === chosen} onChange={() => choose(value)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

/** Tries at the digits; then the request is denied, since the right ones stand on the screen of whoever types. */
const MOST_TRIES = 3;

/** The digits that the new device shows. `onRight`: they are those of a code that this tab has shown. */
function Digits({ requestId, onRight, onOver }: { requestId: string; onRight: () => void; onOver: () => void }) {
  const typed = useSignal('');
  const wrong = useSignal(0);
  const input = useRef<HTMLInputElement>(null);
  const { approve } = texts.value;
  useEffect(() => input.current?.focus(), []);
  const type = (text: string) => {
    typed.value = text.replace(/\D/g, '').slice(0, 6);
    if (typed.value.length < 6) return;
    const isRight = secretsOf(serverNow()).some((secret) => inviteDigits(secret, requestId) === typed.value);
    if (isRight) return onRight();
    typed.value = '';
    wrong.value += 1;
    if (wrong.value >= MOST_TRIES) onOver();
  };
  return (
    <label class="field">
      <span>{approve.digits}</span>
      <input
        ref={input}
        class="digits"
        inputMode="numeric"
        autocomplete="one-time-code"
        dir="ltr"
        aria-invalid={wrong.value > 0}
        value={typed.value}
        onInput={(event) => {
          type(event.currentTarget.value);
          event.currentTarget.value = typed.value;
        }}
      />
      {wrong.value > 0 && (
        <span class="item-error" role="status">
          {approve.wrongDigits(MOST_TRIES - wrong.value)}
        </span>
      )}
    </label>
  );
}

function Decision({ view, link, isInvited }: { view: SignInRequestView; link: string; isInvited: boolean }) {
  const { client } = useApp();
  const { approve } = texts.value;
  const scope = useSignal<Scope>(view.allowed_scopes.includes('guest') ? 'guest' : 'full');
  const persist = useSignal<Persist>('once');
  const isKnown = useSignal(!isInvited);
  const known = () => {
    isKnown.value = true;
    // Whoever reads its digits has it in hand: it is a device of their own, unless they say otherwise.
    if (view.allowed_scopes.includes('full')) scope.value = 'full';
    if (view.allowed_persist.includes('persist')) persist.value = 'persist';
  };
  const isBusy = useSignal(false);
  const decide = (work: () => Promise<void>, said: string) => () => {
    isBusy.value = true;
    attempt(async () => {
      try {
        await work();
        notify(said);
        goInstead();
      } finally {
        isBusy.value = false;
      }
    }, texts.value.failed.approve);
  };
  return (
    <>
      <p class="warning">
        <Icon node={TriangleAlert} />
        <span>{approve.warning}</span>
      </p>
      <Facts view={view} />
      {isInvited && !isKnown.value && (
        <Digits
          requestId={view.request_id}
          onRight={known}
          onOver={decide(() => client.signIns.deny(link), approve.digitsOver)}
        />
      )}
      {!isInvited && <p>{approve.check}</p>}
      <button
        type="button"
        class="button wide strong"
        disabled={isBusy.value}
        onClick={decide(() => client.signIns.deny(link), approve.denied)}
      >
        {approve.deny}
      </button>
      {isKnown.value && view.allowed_persist.length > 1 && (
        <Choice
          legend={approve.howLong}
          options={[
            ['once', approve.once],
            ['persist', approve.persist],
          ]}
          chosen={persist.value}
          choose={(value) => {
            persist.value = value;
          }}
        />
      )}
      {isKnown.value && view.allowed_scopes.length > 1 && (
        <Choice
          legend={approve.what}
          options={[
            ['guest', approve.guest],
            ['full', approve.full],
          ]}
          chosen={scope.value}
          choose={(value) => {
            scope.value = value;
          }}
        />
      )}
      <button
        type="button"
        class="button wide"
        disabled={isBusy.value || !isKnown.value}
        onClick={decide(async () => {
          noteApproval();
          await client.signIns.approve(link, { scope: scope.value, persist: persist.value });
        }, approve.approved)}
      >
        {approve.approve}
      </button>
    </>
  );
}

/** Asks whether another device may sign in: what it is and from where, with the refusal first. */
export function ApprovePane({ link, isInvited }: { link: string; isInvited: boolean }) {
  const { client } = useApp();
  const view = useSignal<SignInRequestView | null>(null);
  const problem = useSignal<string | null>(null);
  const { approve, add } = texts.value;
  useEffect(() => {
    view.value = null;
    problem.value = null;
    if (readSignInLink(link) === null) {
      problem.value = add.notALink;
      return;
    }
    client.signIns.look(link).then(
      (found) => {
        view.value = found;
      },
      (error: unknown) => {
        problem.value = errorText(codeOf(error));
      },
    );
  }, [link]);
  return (
    <Pane title={approve.title}>
      <div class="pane-body">
        {isGuest.value && <Empty node={TriangleAlert} title={add.guest} why={add.guestWhy} />}
        {problem.value !== null && !isGuest.value && <Empty node={TriangleAlert} title={problem.value} />}
        {problem.value === null && view.value === null && !isGuest.value && <Waiting />}
        {view.value !== null && !isGuest.value && <Decision view={view.value} link={link} isInvited={isInvited} />}
      </div>
    </Pane>
  );
}
