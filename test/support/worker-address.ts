/** The address of the worker of the app, which its bundler makes. */
export const workerAddress = '/assets/worker.js';
