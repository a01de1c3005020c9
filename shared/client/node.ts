/* The exports of `@baton/client/node`, in addition to those of `@baton/client`. */
export { leanFetch } from './node/fetch.ts';
export { fileSession } from './node/session.ts';
export { fileKeys } from './node/keys.ts';
export { nodeRecordCipher } from './node/record-cipher.ts';
export { sealingFiles } from './node/sealing.ts';
export { type Claim, makeClaim } from './node/claim.ts';
export { dropParts, fileSink, folderSink, type FolderSinkOptions, type OnStored, writableSink } from './node/sinks.ts';
export {
  type Begun,
  type BegunFile,
  type LeftReceive,
  type ReceiveClaim,
  type ReceiveRecords,
  receiveRecords,
  type Stored,
} from './node/record.ts';
export { fileSource, findSources, folderSources, type FoundSources, readableSource, sha256 } from './node/sources.ts';
export type { DiskPath, IsExcluded, SkippedFile } from './node/find-files.ts';
export type { RenamedFile } from './files/names.ts';
export type { FoundFile, PackSource } from './node/packs.ts';
export { filesIn } from './files/pack.ts';
