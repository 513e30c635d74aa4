import HTTPWire
import LosslessJSON
import Model

/// The path of a `GET` that gives what a `POST` of the same query gave, so that caches and clients
/// may take one response for the other (RFC 9110 8.7).
enum ContentLocation {
  /// What servers and proxies take of a request line is about 8 KB; a path this long is no use.
  private static let bytesMax = 2_000

  /// - Returns: nil where the variables cannot be told apart from others in a query string, or
  ///   take too much room.
  static func path(of key: ResultKey) -> String? {
    guard let variables = (try? JSONValue(checked: key.variables))?.members else { return nil }
    var path = "/v1/operations/\(PercentCoding.encode(key.operation))"
    var separator = "?"
    for variable in variables {
      guard let text = text(of: variable.value) else { return nil }
      path += "\(separator)\(PercentCoding.encode(variable.name))=\(PercentCoding.encode(text))"
      separator = "&"
    }
    return path.utf8.count <= bytesMax ? path : nil
  }

  /// A value as a query string has it. A text that reads as null, a list, an object or a quoted text
  /// there has no other form.
  private static func text(of value: JSONValue) -> String? {
    guard case .string(let text) = value else {
      return String(decoding: value.bytes, as: UTF8.self)
    }
    let isAmbiguous = text == "null" || text.first.map { "[{\"".contains($0) } ?? false
    return isAmbiguous ? nil : text
  }
}
