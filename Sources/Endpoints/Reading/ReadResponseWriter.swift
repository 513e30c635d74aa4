import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Makes the HTTP responses of reads, and stores those that can be served again unchanged.
struct ReadResponseWriter: Sendable {
  /// State recorded before a read, so that the response's cursor is never ahead of its data.
  struct Draft: Sendable {
    let request: ServerRequest
    /// The content of a `POST` to `/v1/graphql`, which the response depends on; empty for other reads.
    let content: [UInt8]
    let caller: Caller
    let head: Revision
    let epoch: Int
    let form: ReadForm
  }

  /// The longest time that a response is served to the bytes of a verified token, so that a key withdrawn
  /// by its issuer is noticed no later than by ``Accounts/TokenVerifier``.
  private static let verifiedFor = Duration.seconds(300)

  let cursors: CursorIssuer
  let cache: ResponseCache
  /// The places of operations in ``HTTPServer/RequestNames``.
  var operationNumbers: [String: Int32] = [:]
  let forwardedNames: [String]
  /// Whether shared caches keep responses of scope PUBLIC, see ``ResponseSharing``.
  var isBehindCDN = false
  /// Bodies smaller than this are not compressed.
  let compressionBytesMin: Int
  /// Larger bodies are compressed on another thread: 128 KiB take about 0.3 ms.
  private static let compressionOnLoopBytesMax = 128 * 1024

  /// The current epoch. Record it before the caller is verified.
  var epoch: Int { cache.epoch.current }

  func begin(
    _ request: ServerRequest, content: [UInt8] = [], caller: Caller, epoch: Int,
    form: ReadForm = .rest
  ) -> Draft {
    Draft(
      request: request, content: content, caller: caller, head: cursors.head, epoch: epoch,
      form: form)
  }

  func response(to draft: Draft, read: ReadResponse) -> ServerResponse {
    let request = draft.request
    let rendered = read.rendered
    let isPrivate = draft.caller.isKnown || rendered.key.scope.kind != .public
    let sharing = ResponseSharing(of: rendered, to: draft.caller, isBehindCDN: isBehindCDN)
    let readFields = ReadFields(
      rendered, coding: .identity, isPrivate: isPrivate, sharing: sharing,
      forwardedNames: forwardedNames, form: draft.form)
    var fields: HTTPFields = [
      .eTag: readFields.entityTag, .cacheControl: readFields.cacheControl, .vary: readFields.vary,
      .cacheStatus: "larder; \(read.outcome.parameters)",
      .age: "\(read.age.wholeSeconds)",
      .serverTiming: Self.serverTiming(read, of: request),
    ]
    if sharing != .shared {
      fields[.syncCursor] = String(
        decoding: cursors.cursor(for: draft.caller.viewer, at: draft.head), as: UTF8.self)
    }
    let isRead = request.method == .get || request.method == .head
    let isUnchanged = isRead && isUnchanged(sharing.tag(of: rendered), for: request)
    request.note { facts in
      facts.operation = operationNumbers[rendered.key.operation] ?? -1
      facts.cacheUse = read.outcome.cacheUse(isNotModified: isUnchanged)
      facts.upstreamNanoseconds = read.upstreamTime?.wholeNanoseconds
    }
    store(read, draft: draft, isPrivate: isPrivate, sharing: sharing)
    if isUnchanged {
      return ServerResponse(status: .notModified, fields: fields, isCompressible: true)
    }
    if request.method == .post, draft.form == .rest {
      fields[.contentLocation] = ContentLocation.path(of: rendered.key)
    }
    return ServerResponse(
      contentType: readFields.contentType, bytes: rendered.body, fields: fields)
  }

  /// The `Server-Timing` of a read: the use of the cache with the time since the request was read, and
  /// the part of it that the request waited for upstream, in milliseconds.
  private static func serverTiming(_ read: ReadResponse, of request: ServerRequest) -> String {
    let cache =
      "cache;desc=\(read.outcome.isForwarded ? "miss" : "hit");"
      + "dur=\(request.elapsed.shownMilliseconds)"
    guard let upstream = read.upstreamTime else { return cache }
    return "\(cache), upstream;dur=\(upstream.shownMilliseconds)"
  }

  private func isUnchanged(_ tag: EntityTag, for request: ServerRequest) -> Bool {
    request.preconditions.judge(isRead: true, tag: tag) == .notModified
  }

  /// Stores a response that is fresh and current, if the cache's key contains everything the response
  /// depends on: not with a device token, nor with a forwarded field besides
  /// `Authorization`.
  private func store(
    _ read: ReadResponse, draft: Draft, isPrivate: Bool, sharing: ResponseSharing
  ) {
    let rendered = read.rendered
    let request = draft.request
    guard request.method != .head, draft.caller.device == nil, rendered.isCurrent,
      // A comparison with upstream begins where the query is read.
      !rendered.hasErrors, rendered.policy.shadow == 0,
      rendered.policy.maxAge > read.age,
      let key = cache.key(of: request.head, content: draft.content),
      key.form == draft.form
    else { return }
    let now = rendered.received.advanced(by: read.age)
    let until = draft.caller.userExpires.map { min($0, now.advanced(by: Self.verifiedFor)) }
    let facts = request.facts
    let keep = { @Sendable (gzipped: [UInt8]?) in
      cache.keep(
        CachedResponse(
          key: key, rendered: rendered, epoch: cache.epoch, epochNumber: draft.epoch,
          viewer: draft.caller.viewer, isPrivate: isPrivate, sharing: sharing, until: until,
          forwardedNames: cache.varyingNames, gzipped: gzipped, facts: facts))
    }
    switch rendered.body.count {
    case ..<compressionBytesMin: keep(nil)
    case ..<Self.compressionOnLoopBytesMax: keep(rendered.gzip(Gzip.compress))
    default: Task.detached { keep(rendered.gzip(Gzip.compress)) }
    }
  }
}

extension ServerRequest {
  /// Notes how a read of an operation that fails used the cache and upstream, for the access log.
  var failedReadObserver: FailedReadObserver {
    { outcome, waited in
      self.note { facts in
        facts.cacheUse = outcome.cacheUse(isNotModified: false)
        facts.upstreamNanoseconds = waited.wholeNanoseconds
      }
    }
  }
}

extension CacheOutcome {
  func cacheUse(isNotModified: Bool) -> CacheUse {
    switch self {
    case .hit: isNotModified ? .notModified : .hit
    case .staleWhileRevalidate: .staleWhileRevalidate
    case .staleAllowed: .stale
    case .staleIfError: .staleIfError
    case .lookup: .lookup
    case .miss: .miss
    case .collapsed: .collapsed
    case .revalidated: .refreshed
    case .request: .bypass
    }
  }
}

extension Duration {
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }

  /// Milliseconds with one decimal, as `Server-Timing` takes them.
  var shownMilliseconds: String {
    let tenths = max(0, wholeNanoseconds / 100_000)
    return "\(tenths / 10).\(tenths % 10)"
  }
}

extension Caller {
  /// Whether the caller presented a credential, forwarded upstream or not.
  var isKnown: Bool {
    hasToken || isAdmin || subject != nil || device != nil || hasSecretPartition
  }
}

extension HTTPField.Name {
  static let cacheStatus = Self("Cache-Status")!
  static let syncCursor = Self("Sync-Cursor")!
  static let serverTiming = Self("Server-Timing")!
}

/// The response fields of a read that are the same for every caller of one rendered response.
struct ReadFields: Sendable {
  /// The strong tag of the representation, quotes included.
  let entityTag: String
  let cacheControl: String
  let vary: String
  let contentType: String

  /// - Parameters:
  ///   - isPrivate: the caller presented a credential. It does not count for a form that ``ResponseSharing``
  ///     decides.
  ///   - forwardedNames: header names that settings pass upstream.
  init(
    _ rendered: RenderedResponse, coding: ContentCoding, isPrivate: Bool,
    sharing: ResponseSharing = .byCredential, forwardedNames: [String], form: ReadForm
  ) {
    entityTag = sharing.tag(of: rendered).coded(coding).text
    cacheControl = Self.cacheControl(
      rendered.policy, isPrivate: sharing == .byCredential ? isPrivate : sharing == .own,
      hasErrors: rendered.hasErrors)
    vary =
      (form == .rest ? "" : "Accept, ")
      + (sharing == .shared ? Self.sharedVary(forwardedNames) : Self.vary(forwardedNames))
    contentType = form.contentType
  }

  /// The `Cache-Control` for shared caches and browsers (RFC 9111, RFC 5861).
  private static func cacheControl(
    _ policy: CachePolicy, isPrivate: Bool, hasErrors: Bool
  ) -> String {
    let sharing = isPrivate ? "private" : "public"
    guard policy.maxAge > .zero, !hasErrors else { return "\(sharing), no-cache" }
    var text = "\(sharing), max-age=\(policy.maxAge.wholeSeconds)"
    if policy.staleWhileRevalidate > .zero {
      text += ", stale-while-revalidate=\(policy.staleWhileRevalidate.wholeSeconds)"
    }
    if policy.staleIfError > .zero {
      text += ", stale-if-error=\(policy.staleIfError.wholeSeconds)"
    }
    return text
  }

  static func vary(_ forwardedNames: [String]) -> String {
    let always = ["Accept-Encoding", "Authorization", "Device-Token"]
    let known = Set(always.map { $0.lowercased() })
    return (always + forwardedNames.filter { !known.contains($0) }).joined(separator: ", ")
  }

  /// Without credentials, which responses of scope PUBLIC do not depend on.
  private static func sharedVary(_ forwardedNames: [String]) -> String {
    (["Accept-Encoding"] + forwardedNames.filter { !Caller.isCredential($0) })
      .joined(separator: ", ")
  }
}

/// The path of the `GET` that is equivalent to a query's `POST`, so that caches and clients can use one
/// response for the other (RFC 9110 section 8.7).
enum ContentLocation {
  /// Servers and proxies accept request lines of about 8 KB; longer paths than this are of no use.
  private static let bytesMax = 2_000

  /// - Returns: nil if the variables are ambiguous in a query string, or the path is longer than
  ///   ``bytesMax``.
  static func path(of key: ResultKey) -> String? {
    guard let variables = (try? JSONValue(checked: key.variables))?.members else { return nil }
    var path = "/v1/operations/\(PercentCoding.encode(key.operation))"
    var separator = "?"
    for variable in variables {
      guard let text = text(of: variable.value) else { return nil }
      path += "\(separator)\(PercentCoding.encode(variable.name))=\(PercentCoding.encode(text))"
      separator = "&"
    }
    return path.utf8.count <= bytesMax ? path : nil
  }

  /// A value as a query string spells it; nil for a string that would be read there as null, a list, an
  /// object or a quoted string.
  private static func text(of value: JSONValue) -> String? {
    guard case .string(let text) = value else {
      return String(decoding: value.bytes, as: UTF8.self)
    }
    let isAmbiguous = text == "null" || text.first.map { "[{\"".contains($0) } ?? false
    return isAmbiguous ? nil : text
  }
}
