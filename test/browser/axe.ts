import axeCore from 'axe-core';
import type { Page } from 'playwright-core';

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** What axe-core finds wrong with a page as it stands: WCAG 2.2 AA, and its best practice. */
export async function violations(page: Page): Promise<string[]> {
  // A notice that fades in has less contrast for a moment.
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
  await page.evaluate(axeCore.source);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const found = await page.evaluate(
    (values) =>
      (window as unknown as { axe: Axe }).axe.run({ runOnly: { type: 'tag', values }, resultTypes: ['violations'] }),
    tags,
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
