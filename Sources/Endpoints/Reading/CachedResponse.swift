import Gateway
import HTTPWire
import Model

/// A rendered answer with the bytes of its response made up to what changes with each request.
final class CachedResponse: ResponseCacheEntry {
  let key: PlainRequestKey
  let rendered: RenderedResponse
  /// Since 1970, as plain integers: they are compared at every hit, and `Duration` is 128 bits.
  let receivedMilliseconds: Int64
  /// Also when the caller's token is refused, whichever comes first.
  let staleAtMilliseconds: Int64
  private let epoch: CredentialEpoch
  private let epochNumber: Int
  let viewer: Viewer
  let isAnonymous: Bool
  let identity: CachedRepresentation
  /// Nil where the body is not worth compressing.
  let gzip: CachedRepresentation?

  var byteCount: Int {
    identity.byteCount + (gzip?.byteCount ?? 0) + key.byteCount + rendered.byteCount
  }

  /// Whether no credential has been refused since that this may have been made for.
  var isOfThisEpoch: Bool { epochNumber == epoch.current }

  /// - Parameters:
  ///   - epochNumber: noted before the caller was verified.
  ///   - until: when the token in `Authorization` is refused, or looked at again; nil for one that
  ///     nobody looks at, and for none.
  init(
    key: PlainRequestKey, rendered: RenderedResponse, epoch: CredentialEpoch, epochNumber: Int,
    viewer: Viewer, isPrivate: Bool, until: Timestamp? = nil, forwardedNames: [String],
    gzipped: [UInt8]?
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
    let fields = { (coding: ContentCoding) in
      ReadFields(
        rendered, coding: coding, isPrivate: isPrivate, forwardedNames: forwardedNames)
    }
    identity = CachedRepresentation(
      body: rendered.body, coding: .identity, fields: fields(.identity))
    gzip = gzipped.map { CachedRepresentation(body: $0, coding: .gzip, fields: fields(.gzip)) }
  }
}

/// One representation of an answer: the fields that never change, and the body.
///
/// A class, so that a hit retains one object and not each array.
final class CachedRepresentation: Sendable {
  let body: [UInt8]
  /// Quotes included.
  let entityTag: [UInt8]
  /// The field lines of a 200 that depend on nothing but the answer; at their end the name `Age`,
  /// whose value changes.
  let fields: [UInt8]
  /// Those of a 304 (RFC 9110 section 15.4.5), up to the same end.
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
    shared.appendField("Content-Type", "application/json")
    shared.appendField("Content-Length", decimal: body.count)
    self.fields = shared + ageName
  }
}
