/// A writer of compact JSON.
///
/// It inserts commas and colons. The caller is responsible for the structure: every `begin` needs an
/// `end`, and inside an object every value needs a `name` before it.
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8]
  private var needsComma = false

  /// - Parameter bytes: text to which the writer appends, without a comma.
  package init(appendingTo bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  package mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

  /// Removes the text and keeps its capacity.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  package mutating func beginObject() { open(UInt8(ascii: "{")) }
  package mutating func endObject() { close(UInt8(ascii: "}")) }
  package mutating func beginArray() { open(UInt8(ascii: "[")) }
  package mutating func endArray() { close(UInt8(ascii: "]")) }

  package mutating func name(_ name: String) {
    separate()
    JSONEscapes.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a member's name with the escapes of its document.
  package mutating func name(_ node: JSONNode) {
    raw(node)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func null() { literal("null") }
  package mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

  package mutating func number(_ value: JSONNumber) {
    separate()
    bytes.append(contentsOf: value.digits.utf8)
  }

  package mutating func int(_ value: some FixedWidthInteger) { number(JSONNumber(value)) }

  package mutating func string(_ value: String) {
    separate()
    JSONEscapes.append(value, to: &bytes)
  }

  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let flag): bool(flag)
    case .number(let digits): number(digits)
    case .string(let text): string(text)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        name(member.name)
        self.value(member.value)
      }
      endObject()
    }
  }

  /// Writes a value with the digits, escapes and member order of its document, without its white space.
  package mutating func value(_ node: JSONNode) {
    if node.document.isCompact || !node.isContainer { return raw(node) }
    if node.kind == .array {
      beginArray()
      for element in node.elements { value(element) }
      endArray()
    } else {
      beginObject()
      for member in node.members {
        name(member.nameNode)
        value(member.value)
      }
      endObject()
    }
  }

  /// Writes a value's original text, including inner white space.
  package mutating func raw(_ node: JSONNode) {
    let place = node.tape
    node.document.bytes.withUnsafeBufferPointer { text in
      guard let base = text.baseAddress else { return }
      raw(
        UnsafeBufferPointer(
          start: base + Int(place.start), count: Int(place.end) - Int(place.start)))
    }
  }

  /// Writes a text that must be one JSON value; it is not validated.
  package mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(contentsOf: text)
  }

  package mutating func raw(_ text: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: text)
  }

  package mutating func raw(_ text: String) { raw(text.utf8) }

  // MARK: Pieces

  /// Writes the comma before a value, and records that the next value needs one.
  @inline(__always)
  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ brace: UInt8) {
    separate()
    bytes.append(brace)
    needsComma = false
  }

  private mutating func close(_ brace: UInt8) {
    bytes.append(brace)
    needsComma = true
  }

  private mutating func literal(_ word: StaticString) {
    separate()
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }
}
