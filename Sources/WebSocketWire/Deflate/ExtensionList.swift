import HTTPWire

/// The value of `Sec-WebSocket-Extensions`: extensions with their parameters, in order (RFC 6455
/// section 9.1).
struct ExtensionList: Equatable {
  struct Parameter: Equatable {
    let name: String
    /// Nil without a value; unquoted.
    let value: String?
  }

  struct Element: Equatable {
    /// As written: extension names are compared exactly.
    let name: String
    let parameters: [Parameter]
  }

  /// Elements, and parameters of one element; a longer list is malformed.
  private static let countMax = 32

  let elements: [Element]

  /// Parses all lines of the field, joined by commas. Nil if the value is malformed.
  init?(_ value: ArraySlice<UInt8>) {
    var elements: [Element] = []
    for part in Self.split(value, at: UInt8(ascii: ",")) where !part.isEmpty {
      guard elements.count < Self.countMax, let element = Self.element(part) else { return nil }
      elements.append(element)
    }
    self.elements = elements
  }

  private static func element(_ text: ArraySlice<UInt8>) -> Element? {
    let parts = split(text, at: UInt8(ascii: ";"))
    guard let first = parts.first, let name = token(first), parts.count <= countMax else {
      return nil
    }
    var parameters: [Parameter] = []
    for part in parts.dropFirst() {
      guard let parameter = parameter(part) else { return nil }
      parameters.append(parameter)
    }
    return Element(name: name, parameters: parameters)
  }

  private static func parameter(_ text: ArraySlice<UInt8>) -> Parameter? {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
      return token(text).map { Parameter(name: $0, value: nil) }
    }
    guard let name = token(text[..<equals].trimmingBlanks) else { return nil }
    var value = text[(equals + 1)...].trimmingBlanks
    if value.count >= 2, value.first == quote, value.last == quote {
      // A quoted value must be a token once its quotes are removed.
      value = value.dropFirst().dropLast()
    }
    return token(value).map { Parameter(name: name, value: $0) }
  }

  private static let quote = UInt8(ascii: "\"")

  /// Splits outside quotes, without the blanks around the parts.
  private static func split(
    _ text: ArraySlice<UInt8>, at separator: UInt8
  ) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var start = text.startIndex
    var isQuoted = false
    for index in text.indices {
      if text[index] == quote { isQuoted.toggle() }
      guard text[index] == separator, !isQuoted else { continue }
      parts.append(text[start..<index].trimmingBlanks)
      start = index + 1
    }
    parts.append(text[start...].trimmingBlanks)
    return parts
  }

  /// The text of a token (RFC 9110 section 5.6.2); nil if it is none.
  static func token(_ text: ArraySlice<UInt8>) -> String? {
    guard !text.isEmpty, text.allSatisfy(\.isTokenByte) else { return nil }
    return text.text
  }
}
