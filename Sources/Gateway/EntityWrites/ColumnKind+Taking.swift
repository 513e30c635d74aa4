import LosslessJSON
import Model

extension EntityType.Column.Kind {
  /// Whether a value that is not null can stand in such a column.
  func takes(_ value: JSONValue) -> Bool {
    switch self {
    case .integer: value.int64 != nil
    case .real: value.number?.double?.isFinite == true
    case .boolean: value.bool != nil
    case .text: value.string != nil
    case .reference: false
    }
  }

  /// What stands there, as clients are told.
  var noun: String {
    switch self {
    case .integer: "a whole number"
    case .real: "a number"
    case .boolean: "true or false"
    case .text: "a text"
    case .reference: "an id"
    }
  }
}
