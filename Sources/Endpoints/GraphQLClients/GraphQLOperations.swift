import Gateway
import Model

/// Runs the operations of GraphQL clients, whatever protocol they came by.
struct GraphQLOperations: Sendable {
  let operations: OperationService
  let unregistered: UnregisteredDocuments
  let mutations: DirectMutations
  let subscriptions: SubscriptionHub

  /// The results of an operation that was begun for a stream.
  enum Results: Sendable {
    /// The only result.
    case single([UInt8])
    case live(OperationStream.Start)
    case events(SubscriptionStream.Start)
  }

  /// Finds the document of a request.
  func match(_ request: DocumentRequest) throws(GraphQLRefusal) -> DocumentMatch {
    let match: DocumentMatch
    do throws(DocumentRefusal) {
      match = try operations.directory.documents.match(request.reference)
    } catch {
      switch error {
      case .hashUnknown: throw .hashUnknown
      case .hashMismatch: throw .hashMismatch
      case .failure(let failure): throw GraphQLRefusal(failure)
      }
    }
    guard request.isLive, match.kind != .query else { return match }
    throw .parameter("Only a query can be live; this is a \(match.kind.rawValue).")
  }

  /// Begins an operation for a client that reads a stream of results.
  ///
  /// - Parameter key: the idempotency key of a mutation, not yet checked.
  func begin(
    _ request: DocumentRequest, _ match: DocumentMatch, caller: Caller, key: String?
  ) async throws(GraphQLRefusal) -> Results {
    try await GraphQLRefusal.converting { () async throws(Failure) in
      let context = OperationService.Context(caller: caller)
      switch match {
      case .unregistered(let document):
        return .single(
          try await unregistered.run(document, variables: request.variables, caller: caller))
      case .operation(let operation):
        switch operation.kind {
        case .subscription:
          return .events(
            try await subscriptions.start(operation, input: request.input, context: context))
        case .mutation:
          return .single(
            try await mutations.send(
              operation, input: request.input, caller: caller, key: key
            ).body)
        case .query where request.isLive:
          return .live(
            try await operations.streamStart(
              operation, input: request.input, context: context, knownTag: nil))
        case .query:
          return .single(
            try await operations.read(operation, input: request.input, context: context)
              .rendered.body)
        }
      }
    }
  }
}

extension DocumentMatch {
  var kind: OperationKind {
    switch self {
    case .operation(let operation): operation.kind
    case .unregistered(let document): document.kind
    }
  }
}
