package import Logging
package import LosslessJSON
import Metrics
package import Model
import Synchronization
package import Upstream

/// What happens to documents that are not registered: `graphql.unregistered`.
package enum UnregisteredPolicy: String, CaseIterable, Sendable {
  case refuse
  /// As ``allow``, and each document is logged.
  case log
  case allow
}

/// Passes documents that are not registered to upstream, if settings say so.
///
/// Such a document is sent as it is, and nothing of its response is stored. It is never sent with
/// credentials of the service: anyone could read with them whatever they allow.
package final class UnregisteredDocuments: Sendable {
  /// The maximum number of documents that are remembered as logged.
  private static let loggedMax = 1_000

  private let policy: UnregisteredPolicy
  private let upstream: UpstreamClient
  private let shares: CallShares
  /// Creates the idempotency key that is sent upstream with a mutation.
  private let makeKey: @Sendable () -> String
  private let logger: Logger
  /// On a replica, which never calls upstream; nil on other nodes.
  private let leader: LeaderLink?
  private let logged = Mutex<Set<String>>([])

  package init(
    policy: UnregisteredPolicy, upstream: UpstreamClient, shares: CallShares = .unlimited,
    leader: LeaderLink? = nil, makeKey: @escaping @Sendable () -> String, logger: Logger
  ) {
    self.leader = leader
    self.policy = policy
    self.upstream = upstream
    self.shares = shares
    self.makeKey = makeKey
    self.logger = logger
  }

  /// Sends a document upstream and returns the response.
  ///
  /// - Parameter variables: a JSON object, not checked against the document; nil without one.
  package func run(
    _ document: UnregisteredDocument, variables: JSONValue?, caller: Caller
  ) async throws(Failure) -> [UInt8] {
    try admit(document, caller)
    if let leader { throw leader.need() }
    guard let place = await shares.take(for: caller) else { throw .sharesTaken }
    defer { place.release() }
    var call = UpstreamCall(caller: caller, scope: caller.scope(sharing: .user))
    let isQuery = document.kind == .query
    if !isQuery { call.idempotencyKey = makeKey() }
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await upstream.execute(
        text: document.text, operationName: document.operationName, variables: variables,
        isSafeToRepeat: isQuery, call: call)
    } catch {
      throw isQuery ? error.readFailure : error.mutationFailure
    }
    if response.data == nil, let permission = response.permission { throw permission.failure }
    // A response without `data` was not executed, and is an error of the request.
    if response.kind == .requestError { throw Failure.upstreamErrors(of: response) }
    return UpstreamResponseRenderer.renderUnchecked(response)
  }

  /// Throws unless the document may be sent with this caller's credentials.
  private func admit(_ document: UnregisteredDocument, _ caller: Caller) throws(Failure) {
    count(policy == .refuse || document.kind == .subscription ? "refused" : "sent")
    if document.kind == .mutation { try caller.admitWriting() }
    guard policy != .refuse else {
      throw Failure(
        .documentUnknown,
        "The document is not registered. Add it to the operations, or send a registered one.")
    }
    guard document.kind != .subscription else {
      throw Failure(
        .documentUnknown,
        "The document is not registered; a subscription must be, whatever the settings say.")
    }
    guard !upstream.settings.hasServiceCredentials || caller.subject != nil else {
      throw Failure(
        .unauthenticated,
        "A document that is not registered requires the caller's own credential.")
    }
    if policy == .log { log(document) }
  }

  private func count(_ result: String) {
    Counter(label: "larder.graphql.unregistered", dimensions: [("result", result)]).increment()
  }

  private func log(_ document: UnregisteredDocument) {
    let digest = DocumentDigest.hexadecimal(of: document.text)
    let isNew = logged.withLock { logged in
      logged.count < Self.loggedMax && logged.insert(digest).inserted
    }
    guard isNew else { return }
    logger.notice(
      "a document that is not registered was sent upstream",
      metadata: [
        "operation": "\(document.operationName ?? "")", "kind": "\(document.kind.rawValue)",
        "sha256": "\(digest)",
      ])
  }
}
