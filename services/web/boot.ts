/*
 * Runs before everything else of the page, under a name that no version changes. While replicas of two versions serve
 * together, the page may come from one, and the other may refuse its script or style, which it does not know. Then this
 * script requests the page again, a few times, until all of it comes from one version. Each version answers with its own
 * copy of this script, so the script must work for the page of another version: it knows nothing of the app.
 */
const TRIES = 'baton-tries';
/**
 * The pauses before each further try. Within a quarter of a minute a balancer that spreads requests has met one version for
 * all files.
 */
const PAUSES_MS = [250, 500, 1_000, 2_000, 2_000, 2_000, 2_000, 2_000];
/** The texts of the app are in a file that may itself be missing. */
const ADVICE =
  'Baton is being updated. Reload this page in a minute. / Baton wird gerade aktualisiert. Laden Sie diese Seite in einer Minute neu.';

let isMissing = false;

function giveUp(): void {
  document.querySelector('.boot')?.remove();
  const advice = document.createElement('p');
  advice.setAttribute('role', 'alert');
  advice.textContent = ADVICE;
  document.body.prepend(advice);
}

function tryAgain(): void {
  const tries = Number(sessionStorage.getItem(TRIES));
  const pauseMs = PAUSES_MS[tries];
  if (pauseMs === undefined) {
    // A user who follows the advice has all tries again.
    sessionStorage.removeItem(TRIES);
    return giveUp();
  }
  sessionStorage.setItem(TRIES, String(tries + 1));
  setTimeout(() => location.reload(), pauseMs);
}

const isNeeded = (target: EventTarget | null): boolean =>
  target instanceof HTMLScriptElement || (target instanceof HTMLLinkElement && target.rel === 'stylesheet');

// Such an error does not bubble: it is seen only on its way down.
document.addEventListener(
  'error',
  ({ target }) => {
    if (isNeeded(target)) isMissing = true;
  },
  true,
);

// By now each file that the page names has come, or has failed.
window.addEventListener('load', () => {
  try {
    if (isMissing) tryAgain();
    else sessionStorage.removeItem(TRIES);
  } catch {
    // This browser keeps nothing: tries that cannot be counted would have no end.
    giveUp();
  }
});

export {};
