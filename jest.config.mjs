/** Run by `npm test`, which starts the Redis that the tests use. */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Suites with scripts of their own.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(bench|chaos|browser|deploy)/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testEnvironment: './test/support/leak-free.mjs',
  reporters: ['default', './test/support/skip-report.mjs'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  testTimeout: 30_000,
  maxWorkers: 2,
  // Makes jest use workers for every run: a file that leaves handles behind then cannot keep jest itself from ending.
  workerIdleMemoryLimit: '1GB',
  watchman: false,
};
