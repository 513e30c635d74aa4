/// The head of one part of a form.
package struct FormPart: Sendable, Hashable {
  /// The name of the form's field.
  package let name: String
  /// The file name of the part; nil if it has none.
  package let filename: String?
  /// The media type that the part declares.
  package let contentType: String?

  package init(name: String, filename: String? = nil, contentType: String? = nil) {
    self.name = name
    self.filename = filename
    self.contentType = contentType
  }

  /// Parses a part's head, given without the empty line at its end.
  init?(head: ArraySlice<UInt8>) {
    var disposition: ArraySlice<UInt8>?
    var type: String?
    for line in Self.lines(head) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let value = line[(colon + 1)...].trimmingBlanks
      switch line[..<colon].text.lowercased() {
      case "content-disposition":
        guard disposition == nil else { return nil }
        disposition = value
      case "content-type": type = value.text
      default: continue
      }
    }
    guard let disposition, let parameters = Self.parameters(disposition),
      let name = parameters["name"]
    else { return nil }
    self.init(name: name, filename: parameters["filename"], contentType: type)
  }

  private static func lines(_ head: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var rest = head
    while let end = rest.firstIndex(of: 0x0D) {
      lines.append(rest[..<end])
      rest = rest[(end + 1)...]
      if rest.first == 0x0A { rest = rest.dropFirst() }
    }
    if !rest.isEmpty { lines.append(rest) }
    return lines
  }

  /// Returns the parameters of `form-data` with lower-case names. A quote within a value is written as
  /// `%22`, as browsers do, or escaped by a backslash.
  private static func parameters(_ value: ArraySlice<UInt8>) -> [String: String]? {
    var rest = value
    let type = rest.prefix { $0 != UInt8(ascii: ";") }
    guard type.trimmingBlanks.text.lowercased() == "form-data" else { return nil }
    rest = rest.dropFirst(type.count)
    var parameters: [String: String] = [:]
    while rest.first == UInt8(ascii: ";") {
      rest = rest.dropFirst().trimmingBlanks
      if rest.isEmpty { break }
      let name = rest.prefix { $0 != ASCII.equals }
      rest = rest.dropFirst(name.count)
      guard rest.first == ASCII.equals else { return nil }
      rest = rest.dropFirst()
      guard let value = takeValue(&rest),
        parameters.updateValue(value, forKey: name.trimmingBlanks.text.lowercased()) == nil
      else { return nil }
      rest = rest.trimmingBlanks
    }
    return rest.isEmpty ? parameters : nil
  }

  private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.first == ASCII.quote else {
      let token = rest.prefix { $0 != UInt8(ascii: ";") }
      rest = rest.dropFirst(token.count)
      return String(validating: token.trimmingBlanks, as: UTF8.self)
    }
    rest = rest.dropFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == ASCII.quote {
        return String(validating: value, as: UTF8.self)?.replacing("%22", with: "\"")
      }
      // A backslash that escapes nothing is part of a path, as old browsers send it.
      if byte == UInt8(ascii: "\\"), rest.first == ASCII.quote || rest.first == byte {
        value.append(rest.removeFirst())
      } else {
        value.append(byte)
      }
    }
    return nil
  }
}
