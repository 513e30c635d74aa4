/// The form that a scalar's values have in generated code (`generate.scalars`), each of which every
/// target language has a type for. The raw value is the word in settings.
package enum ScalarForm: String, Hashable, Sendable, CaseIterable {
  case string = "String"
  /// A signed 32-bit integer.
  case int = "Int"
  /// A signed 64-bit integer.
  case long = "Long"
  case double = "Double"
  case boolean = "Boolean"
  /// A JSON number whose digits are kept.
  case decimal = "Decimal"
  /// A moment or a day as text (RFC 3339).
  case date = "Date"
  case uuid = "UUID"
  case url = "URL"
  /// Bytes in base64 (RFC 4648 section 4).
  case data = "Data"
  /// Any JSON value.
  case json = "JSON"
}

extension ScalarForm {
  /// The form of a scalar that settings do not name: those of GraphQL, of local types, and custom scalars
  /// that are texts by their common names. Of any other scalar nothing is known, so it can be any value.
  package static func standard(of scalar: String) -> ScalarForm {
    switch scalar {
    case "String", "ID": .string
    case "Int", "Int8", "Int16", "Int32": .int
    case "Int64": .long
    case "Float", "Double": .double
    case "Boolean": .boolean
    case "Data": .data
    default: texts.contains(scalar) ? .string : .json
    }
  }

  private static let texts: Set<String> = [
    "Date", "DateTime", "Time", "LocalDate", "LocalDateTime", "LocalTime", "UUID", "URL", "URI",
    "date", "timestamp", "timestamptz", "time", "timetz", "uuid", "AWSDate", "AWSDateTime",
    "AWSTime", "AWSEmail", "AWSPhone", "AWSURL", "AWSJSON",
  ]
}
