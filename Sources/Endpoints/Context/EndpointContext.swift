import Gateway
import HTTPServer
import HTTPWire
import Logging
import Model

/// The services that every endpoint needs to handle a request: its caller, body and failures.
struct EndpointContext: Sendable {
  private static let jsonType = "application/json"
  /// The media types of a `PATCH`: JSON, or a merge patch (RFC 7396).
  static let patchTypes = [jsonType, "application/merge-patch+json"]

  let callers: CallerIdentifier
  let operators: OperatorAccess
  let queue: SyncQueue
  let bodyBytesMax: Int
  /// A stream whose client reads nothing for this long ends; the client resumes by its last event's id.
  let streamStallMax: Duration
  let logger: Logger
  let failures: FailureLog
  /// The places of operations in ``HTTPServer/RequestNames``.
  var operationNumbers: [String: Int32] = [:]
  /// How the access log shows callers; ``Gateway/LoggedIDs/off`` if it does not.
  var loggedIDs = LoggedIDs.off
  /// Nil if requests are always logged.
  var logThreshold: LogThreshold?

  init(
    callers: CallerIdentifier, queue: SyncQueue, cors: CORSPolicy = CORSPolicy(origins: []),
    bodyBytesMax: Int, streamStallMax: Duration,
    clock: WallClock, logger: Logger
  ) {
    self.callers = callers
    operators = OperatorAccess(callers: callers, cors: cors)
    self.queue = queue
    self.bodyBytesMax = bodyBytesMax
    self.streamStallMax = streamStallMax
    self.logger = logger
    failures = FailureLog(clock: clock, logger: logger)
  }

  /// Runs an endpoint and turns its failure into a problem document. See ``FailureLog``.
  func respond(
    to request: ServerRequest, _ body: () async throws(Failure) -> ServerResponse
  ) async -> ServerResponse {
    do throws(Failure) {
      return try await body()
    } catch {
      note(error, requestID: request.id)
      return .failure(error, request: request)
    }
  }

  /// Notes the operation of a request for the metrics and the access log.
  func note(_ operation: ServedOperation, of request: ServerRequest) {
    let number = operationNumbers[operation.name] ?? -1
    request.note { $0.operation = number }
  }

  /// Logs the cause of a failure, which no client sees.
  func note(_ failure: Failure, requestID: String) {
    failures.note(failure, requestID: requestID)
  }

  func caller(of request: ServerRequest) async throws(Failure) -> Caller {
    var caller = try await callers.caller { request.field($0) }
    caller.network = request.network
    request.noteVerified(
      authorization: caller.isAdmin || caller.user != nil,
      deviceToken: caller.device != nil && !caller.isOpenDevice)
    if let session = try operators.session(of: request) { caller = caller.acting(in: session) }
    queue.notePresence(of: caller)
    try await prepareReads(of: caller, request)
    note(caller, of: request)
    return caller
  }

  /// Prepares a node of a cluster for what a caller's device has submitted to any node, as far as the cursors
  /// of the request cover it.
  private func prepareReads(
    of caller: Caller, _ request: ServerRequest
  ) async throws(Failure) {
    guard queue.isInCluster, caller.device != nil else { return }
    let cursors = [
      request.field("sync-cursor"), request.field("last-event-id"),
      (try? request.query())?["since"],
    ]
    let isWhole = try await queue.prepareReads(of: caller, cursors: cursors.compactMap(\.self))
    let entry = queue.inboxEntry(shownTo: caller)
    request.note { facts in
      if !isWhole { facts.isCutOff = true }
      facts.inboxEntry = entry
    }
  }

  /// Notes the caller of a request for the access log, if there is one.
  private func note(_ caller: Caller, of request: ServerRequest) {
    guard caller.user != nil || caller.device != nil, !loggedIDs.isOff,
      logThreshold.map({ $0.level <= .info }) ?? true
    else { return }
    let logged = LoggedCaller(
      user: caller.user.flatMap(loggedIDs.shown),
      device: (caller.device?.id).flatMap(loggedIDs.shown))
    request.note { $0.caller = logged }
  }

  /// Returns the refusal of a request to write whose device token only reads; nil for others.
  func refuseReader(_ request: ServerRequest) async -> ServerResponse? {
    guard let token = request.field("device-token") else { return nil }
    do throws(Failure) {
      try await callers.admitWriting(deviceToken: token)
      return nil
    } catch {
      note(error, requestID: request.id)
      return .failure(error, request: request)
    }
  }

  /// The caller of a stream, and what the stream holds of the ticket it was opened with.
  struct StreamCaller {
    let caller: Caller
    let lease: StreamLease?
  }

  /// The caller of a stream: the one that `?ticket=` was issued to, otherwise the same as ``caller(of:)``.
  func streamCaller(of request: ServerRequest) async throws(Failure) -> StreamCaller {
    guard let ticket = (try? request.query())?[ServerRequest.ticketName] else {
      // A query that cannot be read has no usable ticket, but must not count as none.
      try request.refuseTicket()
      return StreamCaller(caller: try await caller(of: request), lease: nil)
    }
    if request.method != .get { try request.refuseTicket() }
    var (caller, lease) = try await callers.caller(
      ticket: ticket, for: StreamTarget(path: request.path, query: request.queryText))
    caller.network = request.network
    try await prepareReads(of: caller, request)
    note(caller, of: request)
    return StreamCaller(caller: caller, lease: lease)
  }

  /// Returns the refusal of a request by a route's rule for operators; nil if it is admitted. A viewer is
  /// refused by every route that writes.
  func refuse(
    _ request: ServerRequest, by rule: OperatorRule, effect: RouteEffect
  ) async -> ServerResponse? {
    do throws(Failure) {
      switch rule {
      case .ignored: return nil
      case .counted where effect != .writes: return nil
      case .counted:
        if try operators.role(of: request) == .viewer { throw Failure.viewerReads }
      case .required:
        try requireAdminOn()
        guard let role = try await caller(of: request).operatorRole else {
          throw Failure(
            .unauthenticated,
            "This route requires the admin token in Authorization, or a sign-in to the "
              + "console.")
        }
        if role == .viewer, effect != .reads { throw Failure.viewerReads }
      }
      return nil
    } catch {
      note(error, requestID: request.id)
      return .failure(error, request: request)
    }
  }

  func requireAdminOn() throws(Failure) {
    guard callers.isAdminOn else {
      throw Failure(
        .adminOff, "Administration is off. Set admin.token in the settings to enable it.")
    }
  }

  /// The body of a request that carries JSON; empty without a body.
  ///
  /// Other media types are refused, so that no page of another origin can post without a preflight;
  /// also if there is no body.
  func json(of request: ServerRequest) async throws(Failure) -> [UInt8] {
    let type = request.field("content-type")
    guard request.head.hasBody else {
      if let type { try Self.checkType(type, method: request.method) }
      return []
    }
    try Self.checkType(type ?? "", method: request.method)
    return try await content(of: request)
  }

  /// The whole content of a request, of any media type.
  func content(of request: ServerRequest) async throws(Failure) -> [UInt8] {
    do throws(BodyReadError) {
      return try await request.body.collect(upTo: bodyBytesMax)
    } catch {
      switch error {
      case .tooLarge(let bytesMax):
        throw Failure(.bodyTooLarge, "The body exceeds the limit of \(bytesMax) bytes.")
      case .incomplete:
        throw Failure(.bodyIncomplete, "The body ended before it was complete.", retry: .sameKey)
      case .refused, .disconnected, .cancelled:
        throw Failure(.malformedRequest, "The body was not received completely.")
      }
    }
  }

  private static func checkType(_ type: String, method: RequestMethod) throws(Failure) {
    if type == jsonType { return }
    let accepted = method == .patch ? patchTypes : [jsonType]
    let essence = type.split(separator: ";").first ?? ""
    guard accepted.contains(essence.trimmingBlanks.lowercased()) else {
      throw Failure(
        .unsupportedMediaType, "The Content-Type must be \(accepted.joined(separator: " or ")).")
    }
  }
}

extension Substring {
  fileprivate var trimmingBlanks: Substring {
    var text = drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
