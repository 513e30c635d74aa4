import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// Makes responses of reads, and shelves those that may be given again as they stand.
struct ReadResponseWriter: Sendable {
  /// What is noted before a read, so that the answer's cursor is never ahead of its data.
  struct Draft: Sendable {
    let request: ServerRequest
    let caller: Caller
    let head: Revision
    let epoch: Int
  }

  /// For how long an answer is given to the bytes of a token that was verified: a key that its issuer
  /// has withdrawn is noticed no later than by ``Accounts/TokenVerifier``.
  private static let verifiedFor = Duration.seconds(300)

  let cursors: CursorIssuer
  let shelf: ResponseCache
  let forwardedNames: [String]
  /// Bodies smaller than this are not compressed.
  let compressionBytesMin: Int
  /// Larger bodies are compressed on another thread: 128 KiB take about 0.3 ms.
  private static let compressionOnLoopBytesMax = 128 * 1024

  /// To be noted before a caller is verified.
  var epoch: Int { shelf.epoch.current }

  func begin(_ request: ServerRequest, caller: Caller, epoch: Int) -> Draft {
    Draft(request: request, caller: caller, head: cursors.head, epoch: epoch)
  }

  func response(to draft: Draft, answer: ReadResponse) -> ServerResponse {
    let request = draft.request
    let rendered = answer.rendered
    let isPrivate = draft.caller.isKnown || rendered.key.scope.kind != .public
    let read = ReadFields(
      rendered, coding: .identity, isPrivate: isPrivate, forwardedNames: forwardedNames)
    var fields: HTTPFields = [
      .eTag: read.entityTag, .cacheControl: read.cacheControl, .vary: read.vary,
      .cacheStatus: "larder; \(answer.outcome.parameters)",
      .syncCursor: String(
        decoding: cursors.cursor(for: draft.caller.viewer, at: draft.head), as: UTF8.self),
      .age: "\(answer.age.wholeSeconds)",
      .serverTiming: "cache;desc=\(answer.outcome.isForwarded ? "miss" : "hit")",
    ]
    shelve(answer, draft: draft, isPrivate: isPrivate)
    let isRead = request.method == .get || request.method == .head
    if isRead, isUnchanged(rendered, for: request) {
      return ServerResponse(status: .notModified, fields: fields, isCompressible: true)
    }
    if request.method == .post { fields[.contentLocation] = ContentLocation.path(of: rendered.key) }
    return ServerResponse(
      contentType: "application/json", bytes: rendered.body, fields: fields)
  }

  private func isUnchanged(_ rendered: RenderedResponse, for request: ServerRequest) -> Bool {
    request.preconditions.judge(isRead: true, tag: EntityTag(rendered.tag)) == .notModified
  }

  /// Only a GET that is answered from what is fresh and current is worth keeping ready, and only
  /// where the shelf's key holds everything the response depends on: not with a device's token, nor
  /// with a forwarded field beside `Authorization`.
  private func shelve(_ answer: ReadResponse, draft: Draft, isPrivate: Bool) {
    let rendered = answer.rendered
    let request = draft.request
    guard request.method == .get, draft.caller.device == nil, rendered.isCurrent,
      !rendered.hasErrors,
      rendered.policy.maxAge > answer.age, let key = shelf.key(of: request.head)
    else { return }
    let now = rendered.received.advanced(by: answer.age)
    let until = draft.caller.userExpires.map { min($0, now.advanced(by: Self.verifiedFor)) }
    let keep = { @Sendable (gzipped: [UInt8]?) in
      shelf.keep(
        CachedResponse(
          key: key, rendered: rendered, epoch: shelf.epoch, epochNumber: draft.epoch,
          viewer: draft.caller.viewer, isPrivate: isPrivate, until: until,
          forwardedNames: shelf.varyingNames, gzipped: gzipped))
    }
    switch rendered.body.count {
    case ..<compressionBytesMin: keep(nil)
    case ..<Self.compressionOnLoopBytesMax: keep(rendered.gzip(Gzip.compress))
    default: Task.detached { keep(rendered.gzip(Gzip.compress)) }
    }
  }
}

extension Caller {
  /// Presented a credential, whether or not it goes upstream.
  var isKnown: Bool {
    hasToken || isAdmin || subject != nil || device != nil || hasSecretPartition
  }
}

extension HTTPField.Name {
  static let cacheStatus = Self("Cache-Status")!
  static let syncCursor = Self("Sync-Cursor")!
  static let serverTiming = Self("Server-Timing")!
}
