import everyTest from '../../jest.config.mjs';

/** Run by `npm run test:browser`. Three files at a time: they wait more than they compute. */
export default {
  ...everyTest,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 3,
};
