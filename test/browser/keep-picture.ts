import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page, PageScreenshotOptions } from 'playwright-core';

const FOLDER = fileURLToPath(new URL('../../dist/screenshots/', import.meta.url));

/**
 * Keeps a picture of a page for people, as `dist/screenshots/<name>.png`. In CI, where nobody looks at them, it keeps none:
 * a picture takes 0.2 s of a processor.
 */
export async function keepPicture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (process.env.CI === undefined) await page.screenshot({ path: join(FOLDER, `${name}.png`), ...options });
}
