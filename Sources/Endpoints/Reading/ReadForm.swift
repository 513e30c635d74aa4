import HTTPWire

/// The form of a response to a read: the body is always the same, its media type is not.
enum ReadForm: UInt8, Sendable {
  /// Of a REST path.
  case rest
  /// Of `/v1/graphql`, for a client that accepts the media type of GraphQL over HTTP.
  case graphQL
  /// Of `/v1/graphql`, for other clients.
  case graphQLAsJSON

  var contentType: String {
    switch self {
    case .rest, .graphQLAsJSON: "application/json"
    case .graphQL: "application/graphql-response+json"
    }
  }
}

extension ReadForm {
  /// The form of the response to a read, as its target and `Accept` determine it; nil if the response
  /// is not one that can be stored.
  @inline(__always)
  init?(of head: borrowing RequestHead) {
    guard head.targetStarts(with: "/v1/graphql?") || head.targetEquals("/v1/graphql") else {
      self = .rest
      return
    }
    self.init(ofGraphQL: head)
  }

  private init?(ofGraphQL head: borrowing RequestHead) {
    if head.asksForUpgrade { return nil }
    guard let accept = head.fields.joined("accept") else {
      self = .graphQLAsJSON
      return
    }
    // As Apollo Client and most others send it; any other list is parsed.
    if accept.equalsIgnoringCase("application/graphql-response+json,application/json;q=0.9") {
      self = .graphQL
      return
    }
    switch GraphQLAccept(accept).single {
    case .graphQL: self = .graphQL
    case .json: self = .graphQLAsJSON
    case .events, nil: return nil
    }
  }
}
