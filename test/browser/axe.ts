import axeCore from 'axe-core';
import type { Page } from 'playwright-core';

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

const ALL = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
/** The rules of these tags that read colours. The others have the same result in every colour scheme. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/**
 * Returns what axe-core finds wrong with a page in its present state, by WCAG 2.2 AA and its best practice. With `colours` it
 * looks only at what another colour scheme changes.
 */
export async function violations(page: Page, what: 'all' | 'colours' = 'all'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeCore.source);
  const found = await page.evaluate(
    async (runOnly) => {
      // A notice may come while axe reads. It fades in, and has less contrast for a moment.
      const still = new CSSStyleSheet();
      still.replaceSync('*, *::before, *::after { animation: none !important; transition: none !important; }');
      document.adoptedStyleSheets.push(still);
      try {
        return await (window as unknown as { axe: Axe }).axe.run({ runOnly, resultTypes: ['violations'] });
      } finally {
        document.adoptedStyleSheets.pop();
      }
    },
    what === 'all' ? ALL : COLOURS,
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
