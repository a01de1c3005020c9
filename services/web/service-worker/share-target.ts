import { accountHere } from './here.ts';
import { keepShare } from './shares.ts';

/** More files than anybody chooses in a share sheet. */
const MOST_SHARED_FILES = 100;
/** Several times the limit of a message. A longer text than that limit is sent as a file. */
const MOST_SHARED_CHARS = 1_000_000;
const MOST_SHARED_BYTES = 2 * 1024 ** 3;
/** The share of the free space that a share may take, so that space for received files remains. */
const PART_OF_FREE = 0.5;
/** The names and values of the form's fields, besides the files. */
const FORM_BYTES = 4 * MOST_SHARED_CHARS;

/** Why nothing was kept, instead of an id. The app shows it in words. */
export type ShareRefusal = 'too-much' | 'elsewhere' | 'failed';
const REFUSALS: readonly string[] = ['too-much', 'elsewhere', 'failed'] satisfies ShareRefusal[];
export const isRefusal = (id: string): id is ShareRefusal => REFUSALS.includes(id);

type From = 'own' | 'elsewhere' | 'unknown';

/**
 * Finds who sent the form. A browser names the origin of a page's form, as referrer and as `Origin`, unless the page forbids
 * that. A share sheet has no page: it names nothing, or an app. That is `unknown`, and the app says so.
 */
export function senderOf({ referrer, headers }: Pick<Request, 'referrer' | 'headers'>, own: string): From {
  const said = [referrer, headers.get('origin') ?? ''].filter((one) => /^https?:/i.test(one));
  const site = headers.get('sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') return 'elsewhere';
  if (said.some((one) => !URL.canParse(one) || new URL(one).origin !== own)) return 'elsewhere';
  return said.length > 0 ? 'own' : 'unknown';
}

class TooMuch extends Error {}

/** Returns how many bytes a share may have at present. */
async function freeBytes(): Promise<number> {
  const { quota, usage } = (await navigator.storage?.estimate?.()) ?? {};
  if (quota === undefined || usage === undefined) return MOST_SHARED_BYTES;
  return Math.min(MOST_SHARED_BYTES, Math.max(0, quota - usage) * PART_OF_FREE);
}

/** Reads the form, but no more than there is space for. */
async function formOf(request: Request): Promise<FormData> {
  if (!request.body) return request.formData();
  const most = (await freeBytes()) + FORM_BYTES;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > most) controller.error(new TooMuch());
      else controller.enqueue(chunk);
    },
  });
  const headers = { 'Content-Type': request.headers.get('content-type') ?? '' };
  try {
    return await new Response(request.body.pipeThrough(counted), { headers }).formData();
  } catch (error) {
    throw bytes > most ? new TooMuch() : error;
  }
}

async function keep(request: Request, account: string, isOwn: boolean): Promise<string> {
  const form = await formOf(request);
  const words = ['title', 'text', 'url'].map((name) => form.get(name)).filter((value) => typeof value === 'string');
  const text = [...new Set(words.filter((word) => word !== ''))].join('\n');
  const files = form.getAll('files').filter((value) => value instanceof File);
  if (files.length > MOST_SHARED_FILES || text.length > MOST_SHARED_CHARS) throw new TooMuch();
  if (files.reduce((sum, { size }) => sum + size, 0) > (await freeBytes())) throw new TooMuch();
  // The user signed out, or another one signed in, while the form was read.
  if ((await accountHere()) !== account) throw new Error('Signed out');
  return keepShare({ account, text, files, isOwn });
}

async function shareOf(request: Request, account: string): Promise<string> {
  const from = senderOf(request, location.origin);
  if (from === 'elsewhere') return 'elsewhere' satisfies ShareRefusal;
  try {
    return await keep(request, account, from === 'own');
  } catch (error) {
    const isFull = error instanceof TooMuch || (error as Error | undefined)?.name === 'QuotaExceededError';
    return (isFull ? 'too-much' : 'failed') satisfies ShareRefusal;
  }
}

/** Keeps a share for the signed-in user, and redirects to the app, which asks for the receiver. */
export async function share(request: Request): Promise<Response> {
  const account = await accountHere();
  const path = account ? `/#/share/${await shareOf(request, account)}` : '/';
  return Response.redirect(path, 303);
}
