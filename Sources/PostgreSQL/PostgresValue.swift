/// A parameter of a statement. All are sent in their binary form, so bytes cost what they are long.
package enum PostgresValue: Sendable {
  case null
  /// As `int8`.
  case integer(Int64)
  /// As `text`. PostgreSQL has no texts with a zero character, and refuses them.
  case text(String)
  /// As `bytea`.
  case bytes([UInt8])
  /// As `int8[]`.
  case integers([Int64])
  /// As `text[]`.
  case texts([String])
  /// As `bytea[]`.
  case byteStrings([[UInt8]])

  /// The object id of its type in `pg_type`, which never changes.
  var type: UInt32 {
    switch self {
    case .null: 0
    case .integer: 20
    case .text: 25
    case .bytes: 17
    case .integers: 1016
    case .texts: 1009
    case .byteStrings: 1001
    }
  }

  /// Its binary form; nil for null.
  var encoded: [UInt8]? {
    switch self {
    case .null: nil
    case .integer(let value): Self.bigEndian(value)
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    case .integers(let values): Self.array(of: 20, values.map { Self.bigEndian($0) })
    case .texts(let texts): Self.array(of: 25, texts.map { Array($0.utf8) })
    case .byteStrings(let strings): Self.array(of: 17, strings)
    }
  }

  /// `array_send` of PostgreSQL's `arrayfuncs.c`: dimensions, whether there are nulls, the element's type, then
  /// for each dimension its length and lowest index, then each element after its length.
  private static func array(of element: UInt32, _ elements: [[UInt8]]) -> [UInt8] {
    var bytes =
      bigEndian(Int32(elements.isEmpty ? 0 : 1)) + bigEndian(Int32(0)) + bigEndian(element)
    guard !elements.isEmpty else { return bytes }
    bytes.reserveCapacity(20 + elements.reduce(0) { $0 + $1.count + 4 })
    bytes += bigEndian(Int32(elements.count)) + bigEndian(Int32(1))
    for element in elements {
      bytes += bigEndian(Int32(element.count))
      bytes += element
    }
    return bytes
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
