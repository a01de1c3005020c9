/**
 * Every bound of the wire contract that both sides must know. A number that an installation may change is named in
 * the configuration table of the service; here stands its default.
 */
export const LIMITS = {
  /** UTF-8 bytes of one message. */
  messageBytes: 4_096,
  /** UTF-8 bytes of the clipboard. */
  clipboardBytes: 65_536,
  /** Retention of the clipboard. */
  clipboardSeconds: 300,
  /** The same when only devices can open them: what is sealed, decoded. */
  sealedMessageBytes: 4_480,
  sealedClipboardBytes: 81_920,
  deviceNameChars: 32,
  idempotencyKeyChars: 64,
  /** How long an `Idempotency-Key` answers its first result. */
  idempotencySeconds: 600,
  /** The devices of an account together may send so many times what a rate group of the store gives to one of them. */
  accountRates: 10,
  /** Of answers to messages to all devices: a repetition finds its devices unless so many lists have come since. */
  targetLists: 256,
  ackIds: 100,

  devicesPerAccount: 64,
  streamsPerAccount: 64,
  streamsPerDevice: 4,
  mailboxMessages: 500,
  /** All unread messages of one account together, so that one account cannot fill the store. */
  mailboxBytes: 8 * 1024 * 1024,
  mailboxSeconds: 7 * 86_400,
  liveTransfers: 100,
  /** Of these, those that guests offer together: a borrowed device cannot keep its owner from offering. */
  liveTransfersOfGuests: 50,
  /** Records of transfers of one account, ended ones included: the oldest ended ones make room. */
  transferRecords: 500,
  /**
   * Lists of files and `sealed` of all live transfers of one account, with `fileBookkeepingBytes` for each file; guests
   * together have half of it.
   */
  transferBytes: 8 * 1024 * 1024,
  /** What the store keeps of a file beside its place in the list, once the relay has begun with it. */
  fileBookkeepingBytes: 200,
  /** An ended transfer keeps its list of files, and `sealed`, when they are no longer than this; as JSON. */
  endedListBytes: 2_048,
  /** Else it keeps so many files of its list, their names cut to so many bytes. */
  endedFiles: 3,
  endedNameBytes: 128,
  /** A page of a list ends early when it has become so long, or when so many records were looked at. */
  transferPageBytes: 256 * 1024,
  transferPageRecords: 200,
  filesPerTransfer: 1_000,
  /** Events and lists name the files of a transfer only up to this many. */
  filesInEvents: 16,
  /** Of a file, and of a transfer in all: the largest integer of a structured field (RFC 9651, 3.3.1), as `Upload-Offset` is. */
  fileBytes: 999_999_999_999_999,
  /** One part of a file name, in bytes of UTF-8: what common file systems take. */
  fileNamePartBytes: 255,
  /** A whole file name with its folders, in bytes of UTF-8: what common systems take for a path, and Windows less. */
  fileNameBytes: 1_024,
  /** What a sender seals beside the files of an offer, decoded. */
  sealedBytes: 512 * 1024,
  /** A transfer is gone this long after its last change. */
  transferSeconds: 86_400,
  phasesPerSecond: 4,
  signalBytes: 16 * 1024,
  /** Signals older than this are not replayed: the offer's peer has given up. */
  signalSeconds: 60,
  logEvents: 256,
  /** Long events push older ones out before there are `logEvents`. */
  logBytes: 2 * 1024 * 1024,
  logSeconds: 86_400,

  /** A message unacknowledged for so long is pushed although a stream is open. */
  pushSilenceMs: 15_000,
  /** A push service keeps a message, or the news of a device, for so long. */
  pushSeconds: 86_400,
  /** Those of browsers have 150 to 700 characters. */
  pushEndpointChars: 1_024,
  pushTokenChars: 4_096,
  /** More than this is not counted in one push. */
  pushCount: 100,

  /** Longest wait of a poll for an approval. */
  pollMs: 25_000,
  /** Wrong approval codes of one account for one login request, after which that account is refused there. */
  wrongCodes: 5,
  /** Addresses that an installation may have beside its public one. */
  publicOrigins: 80,
  /** A device that signed in by QR and then makes no request for so long is signed out again. */
  claimSeconds: 120,
  /** A device that is signed in may be asked by whoever scans its invite for so long, and by one. */
  inviteSeconds: 120,

  /** A ring, and the list of guests, as they are sent. */
  ringBytes: 64 * 1024,
  ringMembers: 80,
  guests: 64,
  ringsPerPage: 8,
  /** What an approver seals for a new device, decoded. */
  sealedGrantBytes: 2_048,
  /** Of one account: the oldest ring goes when there are more, or more bytes. */
  rings: 1_024,
  ringsBytes: 4 * 1024 * 1024,
  /** Between the announcement that the rings, or the account, are removed without a signature, and that. */
  deletionSeconds: 86_400,

  heartbeatMs: 15_000,
  /** A client takes this many heartbeats of silence as a dead stream. */
  heartbeatsUntilDead: 2.5,

  jsonBodyBytes: 128 * 1024,
  /** 65,536 control characters are six times as long once JSON has escaped them. */
  clipboardBodyBytes: 512 * 1024,
  transferBodyBytes: 1024 * 1024,
  /** Of clients: how long they wait for an offline receiver, before they try a peer, and for it before they use the relay. */
  offlineReceiverMs: 60_000,
  peerDelayMs: 1_200,
  relayFallbackMs: 30_000,
  /** A file's bytes ahead of its receiver that the relay holds; a sender is not read from beyond. */
  relayWindowBytes: 8 * 1024 * 1024,
  /** What the receiver has taken and may still ask for again. */
  relayTailBytes: 4 * 1024 * 1024,
  /** Files of one account that hold bytes in the relay. */
  relayFiles: 8,
  /** Files that the relay keeps beside those, the newest: what was delivered, in case its receiver lost it on the way. */
  relayKeptFiles: 16,
  /** Files of one account that are read, or waited for. */
  relayReads: 32,
  /** What a chunk is at most: so much lies across the end of what is kept. */
  relayChunkBytes: 504 * 1024,
  /** Of one file. */
  relayRewinds: 100,
} as const;

/** Bytes of files that one account can have in the relay's store at a time, with the default window. */
export const RELAY_ACCOUNT_BYTES =
  LIMITS.relayFiles * (LIMITS.relayWindowBytes + LIMITS.relayTailBytes + LIMITS.relayChunkBytes) +
  LIMITS.relayKeptFiles * LIMITS.relayWindowBytes;

const KEPT_MESSAGES = LIMITS.devicesPerAccount * LIMITS.mailboxMessages;
/** Answers that are remembered of one rate group, of which a minute allows so many. */
const remembered = (aMinute: number, seconds: number) => (LIMITS.accountRates * aMinute * seconds) / 60;

/**
 * Bytes that one account can take in the store, by the kind of its keys, all of its devices together: what a thing
 * takes was measured with the longest ids and names, and its number is bounded. Beside these the relay's windows.
 */
export const ACCOUNT_BYTES = {
  devices: LIMITS.devicesPerAccount * 512,
  /** Open streams, and those that were closed a moment ago. */
  routes: 4 * LIMITS.streamsPerAccount * 512,
  presence: 2 * LIMITS.devicesPerAccount * 256,
  /** Texts, and who, when and for whom. */
  mail: LIMITS.mailboxBytes + KEPT_MESSAGES * 512,
  /** A place of each message in the mailbox of one device. */
  inbox: KEPT_MESSAGES * 272,
  /** Three index entries of each transfer: it is pending, and listed for both parties. */
  offers: 3 * LIMITS.transferRecords * 272,
  log: 2 * LIMITS.logBytes,
  /** As JSON in memory, for which the store takes a little more. */
  clipboard: 3 * LIMITS.clipboardBytes,
  /** Rings, the list of guests, and the number before each ring. */
  keys: LIMITS.ringsBytes + 2 * LIMITS.ringBytes + LIMITS.rings * 128,
  /** Lists and `sealed` of live ones, and records. */
  transfers: (LIMITS.transferBytes * 5) / 4 + LIMITS.transferRecords * 6 * 1024,
  /** Of messages with a key of the client, also to all devices; and of offers. */
  operations: remembered(120, 600) * 640 + remembered(60, 600) * 1_024,
  /** The newest lists of devices that messages to all went to: so many, each of up to 64 devices. */
  targets: LIMITS.targetLists * 7_680,
  /** A target for each platform of a device. */
  subscriptions: LIMITS.devicesPerAccount * (2 * LIMITS.pushTokenChars + 2 * LIMITS.pushEndpointChars),
  /** One push is pending for a device for each kind and sender on each of three platforms; with its place in time. */
  pushes: 9 * LIMITS.devicesPerAccount ** 2 * 512,
} as const;
