import GraphQL
import LosslessJSON

/// One element of an answer's `errors` (specification 7.1.2).
struct ExecutionError: Sendable {
  var message: String
  var positions: [SourcePosition] = []
  var path: [PathStep] = []
  var extensions: [JSONMember] = []

  init(
    _ message: String, positions: [SourcePosition] = [], path: [PathStep] = [],
    extensions: [JSONMember] = []
  ) {
    self.message = message
    self.positions = positions
    self.path = path
    self.extensions = extensions
  }

  /// - Parameter code: what the answer's reader can match on, such as `GRAPHQL_VALIDATION_FAILED`.
  init(_ fault: Fault, code: String) {
    self.init(
      fault.message, positions: fault.positions, extensions: [JSONMember("code", .string(code))])
  }

  var json: JSONValue {
    var members = [JSONMember("message", .string(message))]
    if !positions.isEmpty {
      let places = positions.map { position -> JSONValue in
        [
          "line": .number(JSONNumber(position.line)),
          "column": .number(JSONNumber(position.column)),
        ]
      }
      members.append(JSONMember("locations", .array(places)))
    }
    if !path.isEmpty {
      let steps = path.map { step -> JSONValue in
        switch step {
        case .key(let key): .string(key)
        case .index(let index): .number(JSONNumber(index))
        }
      }
      members.append(JSONMember("path", .array(steps)))
    }
    if !extensions.isEmpty { members.append(JSONMember("extensions", .object(extensions))) }
    return .object(members)
  }
}
