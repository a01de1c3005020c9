/**
 * An expression for a page: resolves to the element of this selector with this text, or whose label it is, when there is one.
 * It looks again at each change of the page.
 */
export const found = (selector: string, text: string, withinMs: number): string => `new Promise((resolve, reject) => {
  const isIt = (one) => [one.textContent?.trim(), one.getAttribute('aria-label')].some((said) => said === ${JSON.stringify(text)});
  const find = () => [...document.querySelectorAll(${JSON.stringify(selector)})].find(isIt);
  const late = setTimeout(() => reject(new Error(document.body.innerText)), ${withinMs});
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
