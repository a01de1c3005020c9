/** Asked for by their names alone, and suites of their own in `.ci/run`: they take long. */
const LEFT_OUT = ['delivery', 'gates', 'edge', 'endurance', 'local', 'redis-modes', 'startup'].filter(
  (folder) => !process.argv.slice(2).some((word) => word.includes(folder)),
);

export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Suites with scripts of their own.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/(bench|chaos|storm|neighbour|browser|client-package|cli|deploy)/',
    ...LEFT_OUT.map((folder) => `<rootDir>/test/${folder}/`),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/shared/client/dist/'],
  testEnvironment: './test/support/runner/leak-free.mjs',
  testSequencer: './test/support/runner/long-and-short.mjs',
  reporters: ['default', './test/support/runner/time-report.mjs', './test/support/runner/skip-report.mjs'],
  // The bundler of the app makes this module.
  moduleNameMapper: { '^virtual:worker-address$': '<rootDir>/test/support/worker-address.ts' },
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  // For tests and hooks. It is generous, because only a failing test waits so long.
  testTimeout: 90_000,
  // Files wait more than they compute: for leases, heartbeats and processes that start.
  maxWorkers: 6,
  // Makes jest use workers for every run: a file that leaves handles behind then cannot keep jest itself from ending.
  workerIdleMemoryLimit: '1GB',
  watchman: false,
};
