/** The path at which the bundler has put the worker of the page (deploy/build/build-web.mjs). Only the bundler knows it. */
declare module 'virtual:worker-address' {
  export const workerAddress: string;
}
