/**
 * Returns an expression for a page that resolves to what `find` returns, as soon as that is not undefined. It looks again at
 * each change of the page.
 */
const awaited = (find: string, withinMs: number): string => `new Promise((resolve, reject) => {
  const find = ${find};
  const late = setTimeout(() => reject(new Error(document.body?.innerText)), ${withinMs});
  const look = () => {
    const one = find();
    if (one === undefined) return;
    clearTimeout(late);
    changes.disconnect();
    resolve(one);
  };
  const changes = new MutationObserver(look);
  changes.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  look();
})`;

/** Resolves to the element of this selector that has this text or label, once there is one. */
export const found = (selector: string, text: string, withinMs: number): string => {
  const isIt = `[one.textContent?.trim(), one.getAttribute('aria-label')].some((said) => said === ${JSON.stringify(text)})`;
  return awaited(`() => [...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => ${isIt})`, withinMs);
};

/** Resolves to the element of this selector whose text begins like this, once there is one. */
export const begun = (selector: string, text: string, withinMs: number): string => {
  const isIt = `one.textContent?.trim().startsWith(${JSON.stringify(text)})`;
  return awaited(`() => [...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => ${isIt})`, withinMs);
};

/** Resolves to the first element of this selector, once there is one. */
export const there = (selector: string, withinMs: number): string =>
  awaited(`() => document.querySelector(${JSON.stringify(selector)}) ?? undefined`, withinMs);

/** Resolves to true once the page has this text somewhere. */
export const said = (text: string, withinMs: number): string =>
  awaited(`() => document.body?.innerText.includes(${JSON.stringify(text)}) || undefined`, withinMs);

/**
 * Resolves to the share of the only transfer that has moved, once it is more than this. It is 1 when the transfer is over or
 * has failed.
 */
export const moved = (share: number, withinMs: number): string => {
  const ends = `['Sent', 'Received'].includes(state?.textContent.trim())`;
  return awaited(
    `() => {
      const [bar, state, error] = ['progress', '.state', '.item-error'].map((one) => document.querySelector('.main ' + one));
      if (error !== null || ${ends}) return 1;
      return bar !== null && bar.value / bar.max > ${share} ? bar.value / bar.max : undefined;
    }`,
    withinMs,
  );
};
