/// Calls `body` with an array of C strings that ends with a null pointer.
func withCStrings<Value>(
  _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
) -> Value {
  func next(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) -> Value {
    guard index < strings.count else {
      return (pointers + [nil]).withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("it has an element") }
        return body(start)
      }
    }
    return strings[index].withCString { next(index + 1, pointers + [$0]) }
  }
  return next(0, [])
}

/// Calls `body` with parameters as libpq takes them: their number, their bytes (null for a null), their lengths,
/// and their formats (1 for binary).
func withEncoded<Value>(
  _ parameters: [PostgresValue],
  _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Value
) -> Value {
  let encoded = parameters.map(\.encoded)
  let lengths = encoded.map { Int32($0?.count ?? 0) }
  let formats = [Int32](repeating: 1, count: encoded.count)
  func next(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) -> Value {
    guard index < encoded.count else {
      return body(Int32(encoded.count), pointers, lengths, formats)
    }
    guard let bytes = encoded[index] else { return next(index + 1, pointers + [nil]) }
    // A null pointer would be a null value.
    if bytes.isEmpty { return "".withCString { next(index + 1, pointers + [$0]) } }
    return bytes.withUnsafeBytes { buffer in
      next(index + 1, pointers + [buffer.baseAddress?.assumingMemoryBound(to: CChar.self)])
    }
  }
  return next(0, [])
}
