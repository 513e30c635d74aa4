import GraphQL
import LosslessJSON

/// One element of the `errors` of a response (specification 7.1.2).
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

  /// - Parameter code: the machine-readable code, such as `GRAPHQL_VALIDATION_FAILED`.
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

/// The reason why a field has no value; becomes one element of the response's `errors`.
struct FieldFailure: Error, Sendable {
  let message: String
  /// Members of `extensions`, usually with `code` first.
  let extensions: [JSONMember]

  init(_ message: String, code: String? = nil, extensions: [JSONMember] = []) {
    self.message = message
    self.extensions = (code.map { [JSONMember("code", .string($0))] } ?? []) + extensions
  }
}

/// A step of an error's path: a member of the response or an index in a list.
enum PathStep: Sendable, Hashable {
  case key(String)
  case index(Int)
}
