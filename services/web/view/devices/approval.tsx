import { type Signal, useSignal } from '@preact/signals';
import { KeyRound, Lock, LockOpen, ShieldAlert } from 'lucide';
import { useEffect } from 'preact/hooks';
import { type Persist, readSignInLink, type Scope, type SignInRequestView } from '../../../../shared/client/index.ts';
import type { Gate } from '../../sealing/gate.ts';
import type { ReplacedDevice } from '../../sealing/key-account.ts';
import { keyState } from '../../sealing/key-state.ts';
import { serverNow } from '../../server-time.ts';
import { endLink } from '../../session/linked.ts';
import type { Texts } from '../../texts/english.ts';
import { errorText, keyWords, texts } from '../../texts/texts.ts';
import { noteApproval } from '../announcing.ts';
import { isGuest, useApp } from '../app-context.ts';
import { FirstRingChoice, isMade, useFirstRing } from '../keys/first-ring.tsx';
import { Countdown } from '../parts/countdown.tsx';
import { Icon } from '../parts/icon.tsx';
import { isolated } from '../parts/isolated.ts';
import { codeOf } from '../parts/notices.ts';
import { Empty, Pane, Waiting } from '../parts/parts.tsx';
import { type End, Ended } from './approval-end.tsx';
import { Digits } from './digits.tsx';
import { pictureOf, tintOf } from './device-pictures.ts';

/** Returns the program and its system without the English words around them, such as "Firefox · Windows". */
const programOf = (userAgent: string): string[] =>
  userAgent.split(' on ').filter((part) => part !== 'An unknown program');

/** Shows which device asks, from where and since when. */
function Facts({ view }: { view: SignInRequestView }) {
  const { approve } = texts.value;
  // The name is a stranger's word. The service saw the browser itself.
  const pictured = { type: view.device_type, name: view.source.user_agent, kind: 'device' as const };
  const leftAtFirst = useSignal((view.expires_at - serverNow()) / 1_000);
  const age = (left: number) => Math.round(view.age_seconds + Math.max(0, leftAtFirst.value - left));
  const rows = [
    [approve.name, <bdi key="name">{view.device_name}</bdi>],
    [approve.kind, [approve.kinds[view.device_type], ...programOf(view.source.user_agent)].join(' · ')],
    [
      approve.from,
      <span key="from">
        {view.source.address} · <Countdown until={view.expires_at} text={(left) => approve.ago(age(left))} />
      </span>,
    ],
  ] as const;
  return (
    <div class="card asking">
      <span class={`device-picture ${tintOf(pictured)}`}>
        <Icon node={pictureOf(pictured)} />
      </span>
      <dl>
        {rows.map(([what, value]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The roles with which a device may be let in. */
type Kind = 'mine' | 'hour' | 'guest';
const GRANTS: Readonly<Record<Kind, { scope: Scope; persist: Persist }>> = {
  mine: { scope: 'full', persist: 'persist' },
  hour: { scope: 'full', persist: 'once' },
  guest: { scope: 'guest', persist: 'once' },
};

const kindsOf = ({ allowed_scopes, allowed_persist, relink }: SignInRequestView): Kind[] =>
  (['mine', 'hour', 'guest'] as const).filter(
    (kind) =>
      allowed_scopes.includes(GRANTS[kind].scope) &&
      // A guest that was let in for good keeps its access.
      (allowed_persist.includes(GRANTS[kind].persist) || (relink === true && kind === 'guest')),
  );

function Kinds({ of, chosen }: { of: readonly Kind[]; chosen: Signal<Kind | null> }) {
  const { approve } = texts.value;
  return (
    <fieldset class="segments">
      <legend>{approve.what}</legend>
      <div>
        {of.map((kind) => (
          <label key={kind}>
            <input
              type="radio"
              name="kind"
              required
              checked={chosen.value === kind}
              onChange={() => {
                chosen.value = kind;
              }}
            />
            <strong>{approve.as[kind]}</strong>
            <span class="unseen">{approve.asWhy[kind]}</span>
          </label>
        ))}
      </div>
      {chosen.value !== null && (
        <small class="hint" aria-hidden="true">
          {approve.asWhy[chosen.value]}
        </small>
      )}
    </fieldset>
  );
}

/** The codes after which the question can no longer be answered. */
type Ending = keyof Texts['approve']['ends'];
const isEnding = (code: string): code is Ending => Object.hasOwn(texts.value.approve.ends, code);
function endOf(code: Ending): End {
  const { ends, again } = texts.value.approve;
  return { isGood: false, title: ends[code], why: again };
}

interface QuestionProps {
  view: SignInRequestView;
  link: string;
  isInvited: boolean;
  onEnd: (end: End) => void;
}

/** Returns the whole link if it has the keys of the new device; null: the device gets none. */
function keyedLinkOf(link: string): string | null {
  const whole = URL.canParse(link, location.origin) ? new URL(link, location.origin) : null;
  return whole?.hash.startsWith('#k=') === true ? whole.href : null;
}

interface Given {
  keys: Gate;
  link: string;
  view: SignInRequestView;
  /** The secret of the invite whose digits were typed; null without one. */
  secret: string | null;
  /** The device whose place it takes, as the user saw it. */
  replaced: ReplacedDevice | null | undefined;
}

/**
 * Returns what lets the device in with its keys, and then the digits that both show. Null: it gets nothing, because it has no
 * keys, or because this browser is no member.
 */
function giverOf({ keys, link, view, secret, replaced }: Given): ((kind: Kind) => Promise<string>) | null {
  const { kind: own, isGuest: isOwnGuest } = keyState.value;
  if (own !== 'keyed' || isOwnGuest) return null;
  const asked = view.keys;
  const whole = new URL(link, location.origin).href;
  // A device that is signed in already keeps its access.
  const accessOf = (kind: Kind) => (view.relink === true ? { replaces: replaced?.sig } : GRANTS[kind]);
  if (secret !== null && asked !== undefined) {
    return async (kind) => (await keys.open()).letInInvited(whole, accessOf(kind), secret, asked);
  }
  return keyedLinkOf(link) === null ? null : async (kind) => (await keys.open()).letIn(whole, accessOf(kind));
}

/**
 * Finds the device with keys whose place the asking one takes. Only the service says that it is that one. Undefined: not
 * known yet.
 */
function useReplaced(keys: Gate, view: SignInRequestView): ReplacedDevice | null | undefined {
  const { kind, isGuest: isOwnGuest } = keyState.value;
  const isAsked = view.relink === true && kind === 'keyed' && !isOwnGuest;
  const found = useSignal<ReplacedDevice | null | undefined>(isAsked ? undefined : null);
  useEffect(() => {
    if (!isAsked) return;
    const find = async () => (await keys.open()).replaced(view);
    // If that is not known, it takes nobody's place: the library refuses it.
    void find()
      .catch(() => null)
      .then((replaced) => void (found.value = replaced));
  }, []);
  return found.value;
}

/** Says which device the asking one replaces. */
function TakesPlace({ of }: { of: ReplacedDevice | null | undefined }) {
  const words = keyWords.value();
  if (words === null || of === null || of === undefined) return null;
  return (
    <p class="given-away" role="alert">
      <Icon node={ShieldAlert} size={18} /> {words.takesPlace(isolated(of.name), of.fingerprint)}
    </p>
  );
}

/** Says what the approval of a browser with keys gives. */
function GivenAway({ hasKey, isMine }: { hasKey: boolean; isMine: boolean }) {
  const words = keyWords.value();
  if (words === null || keyState.value.kind !== 'keyed') return null;
  const [node, said] = hasKey
    ? isMine
      ? [KeyRound, words.gives]
      : [Lock, words.givesGuest]
    : [LockOpen, words.givesNone];
  return (
    <p class="given-away" role="status">
      <Icon node={node} size={18} /> {said}
    </p>
  );
}

/** Carries out a decision once at a time. */
function useDecision(onEnd: (end: End) => void) {
  const isBusy = useSignal(false);
  const problem = useSignal('');
  /** Does `work`, and then shows the end; what `work` returns is the reason under its title. */
  const decide = async (work: () => Promise<string | void>, end: End) => {
    isBusy.value = true;
    problem.value = '';
    try {
      const why = await work();
      onEnd({ ...end, ...(why !== undefined && { why }) });
    } catch (error) {
      const code = codeOf(error);
      if (isEnding(code)) onEnd(endOf(code));
      else problem.value = `${texts.value.failed.approve} ${errorText(code)}`;
    } finally {
      isBusy.value = false;
    }
  };
  return { isBusy, problem, decide };
}

function Question({ view, link, isInvited, onEnd }: QuestionProps) {
  const { client, keys } = useApp();
  const { approve } = texts.value;
  const kinds = kindsOf(view);
  // A user who can type the digits holds the device. Nothing is chosen for a code from elsewhere.
  const chosen = useSignal<Kind | null>(isInvited ? (kinds[0] ?? null) : null);
  const isKnown = useSignal(!isInvited);
  const { isBusy, problem, decide } = useDecision(onEnd);
  const invited = useSignal<string | null>(null);
  const replaced = useReplaced(keys, view);
  const giver = giverOf({ keys, link, view, secret: invited.value, replaced });
  const first = useFirstRing(keys, keyedLinkOf(link) !== null);
  const refuse = (title: string) =>
    void decide(() => client.signIns.deny(link), { isGood: false, title, why: approve.deniedWhy });
  const submit = (event: Event) => {
    event.preventDefault();
    const kind = chosen.value;
    if (!isKnown.value || kind === null) return;
    const letIn = async () => {
      noteApproval();
      if (kind === 'mine' && isMade(first.value)) {
        const sealing = await keys.open();
        // After a failure the account may already be encrypted, and the same decision lets the device in.
        await sealing.create();
        const code = await sealing.letIn(new URL(link, location.origin).href);
        return keyWords.value()?.checkCode(code) ?? code;
      }
      if (giver === null) return client.signIns.approve(link, GRANTS[kind]);
      const code = await giver(kind);
      return keyWords.value()?.checkCode(code) ?? code;
    };
    void decide(letIn, { isGood: true, title: approve.approved(view.device_name), why: approve.approvedWhy });
  };
  const refusal = (
    <button
      type="button"
      class={`button ${isInvited ? 'danger-text' : 'wide strong'}`}
      disabled={isBusy.value}
      onClick={() => refuse(approve.denied)}
    >
      {approve.deny}
    </button>
  );
  const isHeld = isBusy.value || !isKnown.value || replaced === undefined;
  const consent = (
    <button class={`button ${isInvited ? 'primary' : 'wide'}`} disabled={isHeld}>
      {approve.approve}
    </button>
  );
  return (
    <form class="stack question" onSubmit={submit}>
      <p class="lead">{approve.warning}</p>
      <Facts view={view} />
      {isInvited && (
        <Digits
          view={view}
          onRight={(secret) => {
            isKnown.value = true;
            invited.value = secret;
          }}
          onOver={() => refuse(approve.digitsOver)}
        />
      )}
      {!isInvited && (
        <>
          <p>{approve.check}</p>
          {refusal}
        </>
      )}
      <Kinds of={kinds} chosen={chosen} />
      {isKnown.value && chosen.value === 'mine' && <FirstRingChoice first={first} />}
      {isKnown.value && chosen.value !== null && <GivenAway hasKey={giver !== null} isMine={chosen.value === 'mine'} />}
      <TakesPlace of={replaced} />
      {problem.value !== '' && (
        <p class="item-error" role="alert">
          {problem.value}
        </p>
      )}
      {isInvited ? (
        <>
          <div class="row both">
            {refusal}
            {consent}
          </div>
          <p class="hint">{approve.check}</p>
        </>
      ) : (
        consent
      )}
    </form>
  );
}

/** Asks whether to let another device in. `isInvited`: it scanned a code of this tab, and shows digits. */
export function ApprovePane({ link, isInvited }: { link: string; isInvited: boolean }) {
  const { client } = useApp();
  const view = useSignal<SignInRequestView | null>(null);
  const end = useSignal<End | null>(null);
  const { approve, add, qr, devices } = texts.value;
  const asked = end.value === null ? view.value : null;
  const finish = (how: End) => {
    endLink();
    end.value = how;
  };
  useEffect(() => {
    if (isGuest.value) return endLink;
    const failed = (title: string) => finish({ isGood: false, title, why: approve.again });
    if (readSignInLink(link) === null) failed(add.notALink);
    else {
      client.signIns.look(link).then(
        (found) => {
          view.value = found;
        },
        (error: unknown) => {
          const code = codeOf(error);
          finish(isEnding(code) ? endOf(code) : { isGood: false, title: approve.notAsked, why: errorText(code) });
        },
      );
    }
    return endLink;
  }, []);
  if (isGuest.value) {
    return (
      <Pane title={approve.title}>
        <div class="pane-body">
          <Empty node={ShieldAlert} title={add.guest} why={add.guestWhy} />
        </div>
      </Pane>
    );
  }
  return (
    <Pane
      title={end.value === null ? approve.title : devices.add}
      kind="approval"
      actions={
        asked !== null && (
          <span class="hint">
            <Countdown
              until={asked.expires_at}
              text={(left) => qr.left(Math.ceil(left))}
              onOver={() => finish(endOf('login_expired'))}
            />
          </span>
        )
      }
    >
      <div class="pane-body">
        {end.value !== null && <Ended end={end.value} isInvited={isInvited} deviceId={view.value?.device_id ?? ''} />}
        {end.value === null && view.value === null && <Waiting />}
        {asked !== null && <Question view={asked} link={link} isInvited={isInvited} onEnd={finish} />}
      </div>
    </Pane>
  );
}
