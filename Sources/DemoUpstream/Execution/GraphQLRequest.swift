import LosslessJSON

/// The parameters of a GraphQL request, however they came over HTTP.
struct GraphQLRequest: Sendable {
  var query: String
  var operationName: String?
  /// An object; empty without variables.
  var variables: JSONValue = .object([])

  init(query: String, operationName: String? = nil, variables: JSONValue = .object([])) {
    self.query = query
    self.operationName = operationName
    self.variables = variables
  }

  /// - Returns: nil if the JSON is no well-formed request. Null counts as absent, unknown members
  ///   are ignored.
  init?(_ json: JSONValue) {
    guard json.members != nil, let query = json["query"]?.string else { return nil }
    self.query = query
    switch json["operationName"] {
    case nil, .null?: break
    case .string(let name)?: operationName = name
    default: return nil
    }
    switch json["variables"] {
    case nil, .null?: break
    case .object(let members)?: variables = .object(members)
    default: return nil
    }
    if let extensions = json["extensions"], !extensions.isNull, extensions.members == nil {
      return nil
    }
  }
}
