import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page, PageScreenshotOptions } from 'playwright-core';

const FOLDER = fileURLToPath(new URL('../../dist/screenshots/', import.meta.url));

/**
 * Keeps a picture of a page for people, as `dist/screenshots/<name>.png`. Afterwards the page has drawn what a change of its
 * size or of its media asked for.
 */
export async function keepPicture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  await page.screenshot({ path: join(FOLDER, `${name}.png`), ...options });
}
