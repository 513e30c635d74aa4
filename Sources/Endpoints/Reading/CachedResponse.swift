import Gateway
import HTTPServer
import HTTPWire
import Model

/// A rendered response with its HTTP fields in bytes, except those that differ for each request.
final class CachedResponse: ResponseCacheEntry {
  let key: PlainRequestKey
  let rendered: RenderedResponse
  /// Since 1970, as a plain integer: it is compared at every hit, and `Duration` is 128 bits.
  let receivedMilliseconds: Int64
  /// The end of freshness, or of the caller's token if that is earlier.
  let staleAtMilliseconds: Int64
  private let epoch: CredentialEpoch
  private let epochNumber: Int
  let viewer: Viewer
  let isAnonymous: Bool
  /// Whether the response has a cursor, which is its caller's own.
  let hasCursor: Bool
  /// Of the request that it was made for. It is the same for all that it is served to, except for the use
  /// of the cache.
  private let facts: RequestFacts
  let identity: CachedRepresentation
  /// Nil if the body is too small to compress.
  let gzip: CachedRepresentation?

  var byteCount: Int {
    identity.byteCount + (gzip?.byteCount ?? 0) + key.byteCount + rendered.byteCount
  }

  /// Whether no credentials have been invalidated since the response was made.
  var isOfThisEpoch: Bool { epochNumber == epoch.current }

  /// What is known of a request that it is served to.
  @inline(__always)
  func facts(isNotModified: Bool) -> RequestFacts {
    var facts = facts
    if isNotModified { facts.cacheUse = .notModified }
    return facts
  }

  /// - Parameters:
  ///   - epochNumber: noted before the caller was verified.
  ///   - until: when the token in `Authorization` expires or must be verified again; nil without a
  ///     token, and for a token that is not verified here.
  init(
    key: PlainRequestKey, rendered: RenderedResponse, epoch: CredentialEpoch, epochNumber: Int,
    viewer: Viewer, isPrivate: Bool, sharing: ResponseSharing = .byCredential,
    until: Timestamp? = nil, forwardedNames: [String],
    gzipped: [UInt8]?, facts: RequestFacts = RequestFacts()
  ) {
    self.key = key
    self.epoch = epoch
    self.epochNumber = epochNumber
    self.rendered = rendered
    receivedMilliseconds = rendered.received.milliseconds
    staleAtMilliseconds = min(
      rendered.received.milliseconds + rendered.policy.maxAge.milliseconds,
      until?.milliseconds ?? .max)
    self.viewer = viewer
    isAnonymous = viewer == .anonymous
    hasCursor = sharing != .shared
    var facts = facts
    facts.upstreamNanoseconds = nil
    facts.cacheUse = .hit
    self.facts = facts
    let fields = { (coding: ContentCoding) in
      ReadFields(
        rendered, coding: coding, isPrivate: isPrivate, sharing: sharing,
        forwardedNames: forwardedNames, form: key.form)
    }
    identity = CachedRepresentation(
      body: rendered.body, coding: .identity, fields: fields(.identity))
    gzip = gzipped.map { CachedRepresentation(body: $0, coding: .gzip, fields: fields(.gzip)) }
  }
}

/// One representation of a cached response: its constant fields, and its body.
///
/// A class, so that a hit retains one object and not each array.
final class CachedRepresentation: Sendable {
  let body: [UInt8]
  /// Quotes included.
  let entityTag: [UInt8]
  /// The constant field lines of a 200. They end with the name `Age`, whose value changes.
  let fields: [UInt8]
  /// The field lines of a 304 (RFC 9110 section 15.4.5), with the same end.
  let notModifiedFields: [UInt8]

  var byteCount: Int { body.count + fields.count + notModifiedFields.count }

  init(body: [UInt8], coding: ContentCoding, fields: ReadFields) {
    self.body = body
    entityTag = Array(fields.entityTag.utf8)
    var shared: [UInt8] = []
    shared.appendField("ETag", fields.entityTag.utf8)
    shared.appendField("Cache-Control", fields.cacheControl.utf8)
    shared.appendField("Vary", fields.vary.utf8)
    shared.appendField("X-Content-Type-Options", "nosniff")
    shared.appendField("Server-Timing", "cache;desc=hit")
    let ageName = Array("Age: ".utf8)
    notModifiedFields = shared + ageName
    if coding == .gzip { shared.appendField("Content-Encoding", "gzip") }
    shared.appendField("Content-Type", fields.contentType.utf8)
    shared.appendField("Content-Length", decimal: body.count)
    self.fields = shared + ageName
  }
}

/// The parts of a cached response that change with time: its cursor, age and remaining lifetime.
struct CachedResponseMoment {
  /// Empty for a response without one.
  let cursor: [UInt8]
  let ageSeconds: Int
  let ttlSeconds: Int

  /// How far the loop's clock, in whole seconds, can lag the clock that stamps responses.
  private static let clockLagMilliseconds: Int64 = 2_000

  /// Nil if the response is no longer current or fresh.
  ///
  /// The loop's clock has a resolution of one second. The age is rounded up for the freshness check, so
  /// that a stale response is never served as fresh. The cursor is read before the check that the
  /// response is current: see ``ResponseCache``. Nil also while a commit becomes visible in a cluster, which
  /// the response can show already.
  @inline(__always)
  init?(of entry: CachedResponse, cursors: CursorIssuer, stamp: ResponseStamp) {
    guard
      let cursor = !entry.hasCursor
        ? []
        : entry.isAnonymous
          ? cursors.settledAnonymousCursor() : cursors.settledCursor(for: entry.viewer)
    else { return nil }
    self.cursor = cursor
    guard entry.rendered.isCurrent, entry.isOfThisEpoch else { return nil }
    let now = stamp.secondsSince1970 &* 1000
    // Stamped by a clock that was ahead: the router decides by the exact clock.
    guard entry.receivedMilliseconds <= now + Self.clockLagMilliseconds else { return nil }
    let ttlMilliseconds = entry.staleAtMilliseconds - max(entry.receivedMilliseconds, now + 999)
    guard ttlMilliseconds > 0 else { return nil }
    entry.rendered.touch()
    ageSeconds = Int(max(0, now - entry.receivedMilliseconds) / 1000)
    ttlSeconds = Int(ttlMilliseconds / 1000)
  }
}

/// Chooses the response for one request from a cached response: the coding, and 200 or 304.
enum CachedResponseChoice {
  /// Writes the response to the end of the output.
  static func write(
    _ entry: CachedResponse, at moment: borrowing CachedResponseMoment,
    for head: borrowing RequestHead, stamp: ResponseStamp, to output: inout [UInt8]
  ) {
    let representation = representation(of: entry, for: head)
    // Validators apply to GET and HEAD alone (RFC 9110 section 13.1.2).
    if head.method != .post, matches(representation.entityTag, head["if-none-match"]) {
      stamp.facts = entry.facts(isNotModified: true)
      stamp.appendHead("HTTP/1.1 304 Not Modified\r\n", for: head, to: &output)
      append(representation.notModifiedFields, at: moment, body: [], to: &output)
    } else {
      stamp.facts = entry.facts(isNotModified: false)
      stamp.appendHead("HTTP/1.1 200 OK\r\n", for: head, to: &output)
      if case .head = head.method {
        append(representation.fields, at: moment, body: [], to: &output)
      } else {
        append(representation.fields, at: moment, body: representation.body, to: &output)
      }
    }
  }

  /// Writes the fields after the request id, and the body.
  private static func append(
    _ fields: [UInt8], at moment: borrowing CachedResponseMoment, body: [UInt8],
    to output: inout [UInt8]
  ) {
    let status: StaticString = "\r\nCache-Status: larder; hit; ttl="
    let cursor: StaticString = "\r\nSync-Cursor: "
    let end: StaticString = "\r\n\r\n"
    let literals = status.utf8CodeUnitCount + cursor.utf8CodeUnitCount + end.utf8CodeUnitCount
    let bytesMax =
      fields.count + moment.cursor.count + literals + 2 * [UInt8].digitsMax + body.count
    output.append(bytesMax: bytesMax) { space in
      space.append(bytes: fields)
      space.append(decimal: moment.ageSeconds)
      space.append(status)
      space.append(decimal: moment.ttlSeconds)
      if !moment.cursor.isEmpty {
        space.append(cursor)
        space.append(bytes: moment.cursor)
      }
      space.append(end)
      space.append(bytes: body)
    }
  }

  private static func representation(
    of entry: CachedResponse, for head: borrowing RequestHead
  ) -> CachedRepresentation {
    guard let gzip = entry.gzip, let accepted = head["accept-encoding"],
      AcceptEncoding(accepted).preferred == .gzip
    else { return entry.identity }
    return gzip
  }

  /// Whether an `If-None-Match` condition contains this tag (RFC 9110 section 13.1.2). A condition that
  /// is the tag itself, as nearly every client sends it, is compared as bytes; others are parsed.
  ///
  /// - Parameter entityTag: quotes included.
  static func matches(_ entityTag: [UInt8], _ condition: ArraySlice<UInt8>?) -> Bool {
    guard let condition else { return false }
    if condition.equals(entityTag) { return true }
    let current = EntityTag(parsing: String(decoding: entityTag, as: UTF8.self))
    return EntityTagList(condition)?.weaklyContains(current) ?? false
  }
}
