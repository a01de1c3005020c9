import { page } from '../../../server/http/page.ts';

/** What a browser finds at `/` as long as there is no web client. */
export const homePage = (): string =>
  page(
    'Baton',
    `<h1>Baton</h1>
<p>Baton links the devices of one account: they see each other come and go, pass messages, and share one clipboard.
Any number of replicas serve one account together, so it does not matter which of them a device is connected to.</p>
<ul>
<li><a href="/api/docs">The wire contract, to read</a></li>
<li><a href="/api/openapi.json">The same as OpenAPI 3.1</a></li>
</ul>`,
  );
