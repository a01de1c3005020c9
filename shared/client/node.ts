/* What `@baton/client/node` has beside `@baton/client`. */
export { leanFetch } from './node/fetch.ts';
export { fileSession } from './node/session.ts';
export { type Claim, makeClaim } from './node/claim.ts';
export { dropParts, fileSink, folderSink, writableSink } from './node/sinks.ts';
export { type LeftReceive, type ReceiveClaim, type ReceiveRecords, receiveRecords } from './node/record.ts';
export { fileSource, findSources, folderSources, type FoundSources, readableSource, sha256 } from './node/sources.ts';
export type { DiskPath, SkippedFile } from './node/find-files.ts';
export type { RenamedFile } from './files/names.ts';
export type { FoundFile, PackSource } from './node/packs.ts';
export { filesIn } from './files/pack.ts';
