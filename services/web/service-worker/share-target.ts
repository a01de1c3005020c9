import { accountHere } from './here.ts';
import { keepShare } from './shares.ts';

/** As many files as somebody chooses in a share sheet, and more. */
const MOST_SHARED_FILES = 100;
/** Several times what a message takes; the rest of a long text is sent as a file. */
const MOST_SHARED_CHARS = 1_000_000;
const MOST_SHARED_BYTES = 2 * 1024 ** 3;
/** What is kept must leave space for what is received. */
const PART_OF_FREE = 0.5;
/** Names and values of the form's fields, around the files. */
const FORM_BYTES = 4 * MOST_SHARED_CHARS;

/** Why nothing was kept, in the place of an id: the app says it in words. */
export type ShareRefusal = 'too-much' | 'elsewhere' | 'failed';
const REFUSALS: readonly string[] = ['too-much', 'elsewhere', 'failed'] satisfies ShareRefusal[];
export const isRefusal = (id: string): id is ShareRefusal => REFUSALS.includes(id);

type From = 'own' | 'elsewhere' | 'unknown';

/**
 * Who sent the form. A browser says of each page's form from which origin it comes, as referrer and as `Origin`, unless that
 * page asks it not to. A share sheet has no page: it says nothing, or names an app. That is `unknown`, and is marked in words.
 */
export function senderOf({ referrer, headers }: Pick<Request, 'referrer' | 'headers'>, own: string): From {
  const said = [referrer, headers.get('origin') ?? ''].filter((one) => /^https?:/i.test(one));
  const site = headers.get('sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') return 'elsewhere';
  if (said.some((one) => !URL.canParse(one) || new URL(one).origin !== own)) return 'elsewhere';
  return said.length > 0 ? 'own' : 'unknown';
}

class TooMuch extends Error {}

/** How many bytes a share may have here and now. */
async function freeBytes(): Promise<number> {
  const { quota, usage } = (await navigator.storage?.estimate?.()) ?? {};
  if (quota === undefined || usage === undefined) return MOST_SHARED_BYTES;
  return Math.min(MOST_SHARED_BYTES, Math.max(0, quota - usage) * PART_OF_FREE);
}

/** Reads no more of the form than there is space for. */
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
  // Signed out, or somebody else, while the form was read.
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

/** Keeps what was shared for whoever is signed in, and leads to the app, which asks to whom it goes. */
export async function share(request: Request): Promise<Response> {
  const account = await accountHere();
  const path = account ? `/#/share/${await shareOf(request, account)}` : '/';
  return Response.redirect(path, 303);
}
