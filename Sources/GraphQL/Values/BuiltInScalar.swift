import LosslessJSON

/// The scalars of the specification (3.5) and the input values each accepts. Any other scalar takes
/// every value: only its server knows better.
enum BuiltInScalar: String {
  case int = "Int"
  case float = "Float"
  case string = "String"
  case boolean = "Boolean"
  case id = "ID"
}

extension BuiltInScalar {
  /// What a literal means as JSON, or why it means nothing.
  func coerce(_ value: Value) -> Result<JSONValue, Problem> {
    switch (self, value.kind) {
    case (.int, .int(let digits)):
      guard let number = Int32(digits) else { return .failure(.notInt32(digits)) }
      return .success(.number(JSONNumber(number)))
    case (.float, .int(let digits)), (.float, .float(let digits)):
      guard let double = Double(digits), double.isFinite, let number = JSONNumber(digits: digits)
      else { return .failure(.notFinite(digits)) }
      return .success(.number(number))
    case (.string, .string(let text, _)), (.id, .string(let text, _)), (.id, .int(let text)):
      return .success(.string(text))
    case (.boolean, .boolean(let flag)):
      return .success(.bool(flag))
    default:
      return .failure(.wrongKind(self, Printer.print(value)))
    }
  }

  /// What a JSON value of a variable means, or why it means nothing.
  func coerce(_ value: JSONValue) -> Result<JSONValue, Problem> {
    switch (self, value) {
    case (.int, .number(let number)):
      guard let integer = number.integerDigits else {
        return .failure(.wrongKind(self, number.digits))
      }
      guard let int32 = Int32(integer) else { return .failure(.notInt32(number.digits)) }
      return .success(.number(JSONNumber(int32)))
    case (.float, .number(let number)):
      guard let double = number.double, double.isFinite else {
        return .failure(.notFinite(number.digits))
      }
      return .success(value)
    case (.string, .string), (.id, .string), (.boolean, .bool):
      return .success(value)
    case (.id, .number(let number)):
      guard let integer = number.integerDigits else {
        return .failure(.wrongKind(self, number.digits))
      }
      return .success(.string(integer))
    default:
      return .failure(.wrongKind(self, value.text))
    }
  }

  /// Why a literal does not fit, for validation. An overlong float is left to the server.
  func problem(of value: Value) -> String? {
    switch coerce(value) {
    case .success, .failure(.notFinite): nil
    case .failure(let problem): problem.message
    }
  }

  enum Problem: Error {
    case notInt32(String)
    case notFinite(String)
    case wrongKind(BuiltInScalar, String)

    var message: String {
      switch self {
      case .notInt32(let digits):
        "Int cannot represent non 32-bit signed integer value: \(digits)"
      case .notFinite(let digits):
        "Float cannot represent non finite value: \(digits)"
      case .wrongKind(let scalar, let text):
        "\(scalar.rawValue) cannot represent a \(scalar.lacking) value: \(text)"
      }
    }
  }

  private var lacking: String {
    switch self {
    case .int: "non-integer"
    case .float: "non numeric"
    case .string: "non string"
    case .boolean: "non boolean"
    case .id: "non-string and non-integer"
    }
  }
}

extension JSONNumber {
  /// The digits of a whole number, also one written as `1.0` or `2e3`; absent for others.
  fileprivate var integerDigits: String? {
    if digits.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") }) {
      return digits == "-0" ? "0" : digits
    }
    guard let double, let whole = Int64(exactly: double) else { return nil }
    return String(whole)
  }
}
