import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** Makes a key pair with its public half in the form of a key set, and a function that signs. */
export async function makeSigner(kid: string, alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return {
    jwk,
    publicKey,
    sign: (claims: Record<string, unknown>, header: Record<string, unknown> = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, typ: 'JWT', kid, ...header }).sign(privateKey),
  };
}

export type Signer = Awaited<ReturnType<typeof makeSigner>>;

/** Starts a JWKS on loopback that counts who asks. The test decides what it answers. */
export async function startKeyServer(...keys: JWK[]) {
  let fetches = 0;
  const answers = {
    keys: (res: ServerResponse) => res.end(JSON.stringify({ keys })),
  };
  let answer: (res: ServerResponse) => unknown = answers.keys;
  const server = createServer((_req, res) => {
    fetches++;
    answer(res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/keys`,
    /** The served keys. A test may change them at any time. */
    keys,
    fetches: () => fetches,
    answerWith: (other: (res: ServerResponse) => unknown) => void (answer = other),
    answerKeys: () => void (answer = answers.keys),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type KeyServer = Awaited<ReturnType<typeof startKeyServer>>;
