/**
 * Every bound of the wire contract that both sides must know. A number that an installation may change is in the
 * configuration table of the service; its default is here.
 */
export const LIMITS = {
  /** UTF-8 bytes of one message. */
  messageBytes: 4_096,
  /** UTF-8 bytes of the clipboard. */
  clipboardBytes: 65_536,
  /** Retention of the clipboard. */
  clipboardSeconds: 300,
  /** The bounds of sealed content, in decoded bytes. */
  sealedMessageBytes: 4_480,
  sealedClipboardBytes: 81_920,
  deviceNameChars: 32,
  idempotencyKeyChars: 64,
  /** How long an `Idempotency-Key` gets the first result. */
  idempotencySeconds: 600,
  /** The devices of an account together may send this many times the limit of one device in a rate group of the store. */
  accountRates: 10,
  /** The remembered device lists of messages to all. A retry finds its devices unless this many lists have come since. */
  targetLists: 256,
  ackIds: 100,

  devicesPerAccount: 64,
  streamsPerAccount: 64,
  streamsPerDevice: 4,
  mailboxMessages: 500,
  /** The bytes of all unread messages of one account, so that one account cannot fill the store. */
  mailboxBytes: 8 * 1024 * 1024,
  mailboxSeconds: 7 * 86_400,
  liveTransfers: 100,
  /** How many of these guests together may offer, so that a borrowed device cannot block its owner's offers. */
  liveTransfersOfGuests: 50,
  /** The transfer records of one account, including ended ones. The oldest ended ones are removed for new ones. */
  transferRecords: 500,
  /**
   * The bytes of file lists and `sealed` of all live transfers of one account, with `fileBookkeepingBytes` for each file.
   * Guests together have half of them.
   */
  transferBytes: 8 * 1024 * 1024,
  /** The bytes that the store keeps for a file besides its place in the list, once the relay has begun with it. */
  fileBookkeepingBytes: 200,
  /** An ended transfer keeps its list of files, and `sealed`, up to this length as JSON. */
  endedListBytes: 2_048,
  /** Otherwise it keeps this many files of its list, with names cut to this many bytes. */
  endedFiles: 3,
  endedNameBytes: 128,
  /** A page of a list ends early at this length, or after this many scanned records. */
  transferPageBytes: 256 * 1024,
  transferPageRecords: 200,
  filesPerTransfer: 1_000,
  /** Events and lists name the files of a transfer only up to this many. */
  filesInEvents: 16,
  /**
   * The size of a file, and of a transfer in total: the largest integer of a structured field (RFC 9651, 3.3.1), such as
   * `Upload-Offset`.
   */
  fileBytes: 999_999_999_999_999,
  /** One part of a file name, in bytes of UTF-8: the limit of common file systems. */
  fileNamePartBytes: 255,
  /** A whole file name with its folders, in bytes of UTF-8: the path limit of common systems; Windows has a lower one. */
  fileNameBytes: 1_024,
  /** The decoded bytes that a sender seals with the files of an offer. */
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

  /** A message that is unacknowledged for this long is pushed although a stream is open. */
  pushSilenceMs: 15_000,
  /** How long a push service keeps a message, or the news of a device. */
  pushSeconds: 86_400,
  /** The endpoints of browsers have 150 to 700 characters. */
  pushEndpointChars: 1_024,
  pushTokenChars: 4_096,
  /** The highest count in one push. */
  pushCount: 100,

  /** Longest wait of a poll for an approval. */
  pollMs: 25_000,
  /** After this many wrong approval codes for one login request, the account is refused for it. */
  wrongCodes: 5,
  /** The addresses that an installation may have besides its public one. */
  publicOrigins: 80,
  /** A device that signed in by QR and then makes no request for this long is signed out again. */
  claimSeconds: 120,
  /** How long an invite of a signed-in device is valid. It serves one request. */
  inviteSeconds: 120,

  /** A ring, or the list of guests, in the form that is sent. */
  ringBytes: 64 * 1024,
  ringMembers: 80,
  guests: 64,
  ringsPerPage: 8,
  /** The decoded bytes that an approver seals for a new device. */
  sealedGrantBytes: 2_048,
  /** The rings of one account. The oldest ring is removed when there are more, or more bytes. */
  rings: 1_024,
  ringsBytes: 4 * 1024 * 1024,
  /** The time between the announcement of an unsigned removal of the rings, or the account, and the removal. */
  deletionSeconds: 86_400,

  heartbeatMs: 15_000,
  /** A client treats this many heartbeats of silence as a dead stream. */
  heartbeatsUntilDead: 2.5,

  jsonBodyBytes: 128 * 1024,
  /** 65,536 control characters are six times as long after JSON has escaped them. */
  clipboardBodyBytes: 512 * 1024,
  transferBodyBytes: 1024 * 1024,
  /**
   * How long clients wait for an offline receiver, then before they try a peer, then for the peer before they use the
   * relay.
   */
  offlineReceiverMs: 60_000,
  peerDelayMs: 1_200,
  relayFallbackMs: 30_000,
  /** The bytes of a file that the relay holds ahead of its receiver. It reads no further from the sender. */
  relayWindowBytes: 8 * 1024 * 1024,
  /** The bytes that the receiver has taken and may still request again. */
  relayTailBytes: 4 * 1024 * 1024,
  /** The files of one account that have bytes in the relay. */
  relayFiles: 8,
  /** The newest delivered files that the relay keeps besides those, in case their receiver lost them on the way. */
  relayKeptFiles: 16,
  /** The files of one account that are being read or waited for. */
  relayReads: 32,
  /** The largest chunk. This many bytes may lie across the end of the kept bytes. */
  relayChunkBytes: 504 * 1024,
  /** The rewinds of one file. */
  relayRewinds: 100,
} as const;

/** The bytes of files that one account can have in the relay's store at a time, with the default window. */
export const RELAY_ACCOUNT_BYTES =
  LIMITS.relayFiles * (LIMITS.relayWindowBytes + LIMITS.relayTailBytes + LIMITS.relayChunkBytes) +
  LIMITS.relayKeptFiles * LIMITS.relayWindowBytes;

const KEPT_MESSAGES = LIMITS.devicesPerAccount * LIMITS.mailboxMessages;
/** Returns how many results of a rate group are remembered if a minute allows `aMinute` requests. */
const remembered = (aMinute: number, seconds: number) => (LIMITS.accountRates * aMinute * seconds) / 60;

/**
 * The bytes that one account can take in the store, by the kind of its keys, for all of its devices together. The size of
 * each thing was measured with the longest ids and names, and its number is bounded. The relay's windows are extra.
 */
export const ACCOUNT_BYTES = {
  devices: LIMITS.devicesPerAccount * 512,
  /** Open streams, and recently closed ones. */
  routes: 4 * LIMITS.streamsPerAccount * 512,
  presence: 2 * LIMITS.devicesPerAccount * 256,
  /** The texts, with sender, time and receivers. */
  mail: LIMITS.mailboxBytes + KEPT_MESSAGES * 512,
  /** A place of each message in the mailbox of one device. */
  inbox: KEPT_MESSAGES * 272,
  /** Three index entries of each transfer: it is pending, and listed for both parties. */
  offers: 3 * LIMITS.transferRecords * 272,
  log: 2 * LIMITS.logBytes,
  /** As JSON in memory, which takes a little more. */
  clipboard: 3 * LIMITS.clipboardBytes,
  /** Rings, the list of guests, and the number before each ring. */
  keys: LIMITS.ringsBytes + 2 * LIMITS.ringBytes + LIMITS.rings * 128,
  /** The lists and `sealed` of live transfers, and all records. */
  transfers: (LIMITS.transferBytes * 5) / 4 + LIMITS.transferRecords * 6 * 1024,
  /** The operations of messages with a key of the client, also to all devices, and of offers. */
  operations: remembered(120, 600) * 640 + remembered(60, 600) * 1_024,
  /** The newest device lists of messages to all devices, each with up to 64 devices. */
  targets: LIMITS.targetLists * 7_680,
  /** One target for each platform of a device. */
  subscriptions: LIMITS.devicesPerAccount * (2 * LIMITS.pushTokenChars + 2 * LIMITS.pushEndpointChars),
  /** One push is pending for a device for each kind and sender on each of three platforms, with its place in time. */
  pushes: 9 * LIMITS.devicesPerAccount ** 2 * 512,
} as const;
