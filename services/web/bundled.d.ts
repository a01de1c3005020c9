/** What only the bundler knows: where it has put the worker of the page (deploy/build/build-web.mjs). */
declare module 'virtual:worker-address' {
  export const workerAddress: string;
}
