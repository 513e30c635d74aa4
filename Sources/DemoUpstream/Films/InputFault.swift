import LosslessJSON

/// What is wrong with one member of a mutation's input.
struct InputFault: Sendable, Hashable {
  let path: [String]
  let message: String

  var json: JSONValue {
    ["path": .array(path.map(JSONValue.string)), "message": .string(message)]
  }
}

extension FieldFailure {
  /// - Parameter faults: all of them; at least one.
  static func badInput(_ faults: [InputFault]) -> FieldFailure {
    FieldFailure(
      faults.map(\.message).joined(separator: " "), code: "BAD_USER_INPUT",
      extensions: [JSONMember("faults", .array(faults.map(\.json)))])
  }

  static func badInput(_ path: String, _ message: String) -> FieldFailure {
    badInput([InputFault(path: path.split(separator: ".").map(String.init), message: message)])
  }

  static func notFound(_ id: String) -> FieldFailure {
    FieldFailure("Nothing has the id \(id).", code: "NOT_FOUND")
  }

  static let unauthenticated = FieldFailure("Sign in first.", code: "UNAUTHENTICATED")
}
