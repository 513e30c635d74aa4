import Gateway
import HTTPWire
import LosslessJSON
import Model

/// What subjects of live streams can show: each source starts the stream that the subject has a path of
/// its own for, so a subject behaves exactly as that stream does.
///
/// A further kind of stream is one more source here and one more member in ``LiveDocument``.
struct LiveSources: Sendable {
  let operations: OperationService
  let subscriptions: SubscriptionHub
  let changes: ChangeFeed
  let lists: LiveLists
}

/// A live query, or upstream's subscription, by the name of its operation.
struct OperationSource: LiveSource {
  let operations: OperationService
  let subscriptions: SubscriptionHub
  let name: String
  let variables: JSONValue
  /// The tag of the response that the client has; nil for none.
  let from: String?
  let requestID: String

  func start(
    for caller: Caller, at position: String?, isResumed: Bool
  ) async throws(Failure) -> @Sendable () -> any EventSource {
    let operation = try operations.directory.operation(named: name)
    let context = OperationService.Context(caller: caller)
    switch operation.kind {
    case .query:
      let start = try await operations.streamStart(
        operation, input: .value(variables), context: context, knownTag: position ?? from)
      return { [operations] in operations.open(start) }
    case .mutation:
      throw Failure(.malformedRequest, "\(name) is a mutation and has no stream.")
    case .subscription:
      var start = try await subscriptions.start(
        operation, input: .value(variables), context: context)
      start.beginsWithGap = isResumed
      return { [subscriptions, requestID, start] in
        SubscriptionEvents(subscriptions.open(start), instance: nil, requestID: requestID)
      }
    }
  }
}

/// The changes since a cursor.
struct ChangesSource: LiveSource {
  let feed: ChangeFeed
  /// The parameters of `/v1/changes/stream`.
  let parameters: [QueryString.Parameter]

  func start(
    for caller: Caller, at position: String?, isResumed: Bool
  ) async throws(Failure) -> @Sendable () -> any EventSource {
    var query = try ChangesQuery(parameters, of: feed)
    try feed.admit(caller, to: query.filter)
    if let position { query.since = .cursor(position) }
    do {
      let start = try await feed.streamStart(
        caller: caller, filter: query.filter, since: query.since)
      return { [feed] in feed.open(start) }
    } catch let fault as CursorFault {
      throw ChangesEndpoint.failure(of: fault)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.internal, "The changes could not be read.", cause: "\(error)")
    }
  }
}

/// A list of entities.
struct ListSource: LiveSource {
  let lists: LiveLists
  let question: ListQuestion
  /// The network of the client.
  let network: ClientNetwork
  /// The tag of the list that the client has; nil for none.
  let from: String?

  func start(
    for caller: Caller, at position: String?, isResumed: Bool
  ) async throws(Failure) -> @Sendable () -> any EventSource {
    let start = try await lists.start(
      question, caller: caller, owner: caller.owner(in: network),
      knownTag: (position ?? from).map(ListDiffEndpoint.opaque))
    return { [lists] in lists.open(start) }
  }
}
