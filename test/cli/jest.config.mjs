import everyTest from '../../jest.config.mjs';

/** Run by `npm run test:cli`: the built program, as people start it. Two files at a time: they move big files. */
export default {
  ...everyTest,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/cli/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
};
