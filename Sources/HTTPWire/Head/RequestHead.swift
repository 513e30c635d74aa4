/// A request's start line and fields, checked, kept as offsets into the bytes it owns.
package struct RequestHead: Sendable {
  /// The field lines; ``FieldSection/bytes`` holds the whole head.
  package internal(set) var fields = FieldSection()
  package internal(set) var method = RequestMethod.get
  /// 0 for HTTP/1.0, otherwise 1: later minor versions are read as 1.1 (RFC 9110 2.5).
  package internal(set) var minorVersion = 1
  /// How the body is delimited.
  package internal(set) var framing = BodyFraming.none
  /// Whether the client allows the connection to be reused.
  package internal(set) var keepsAlive = true
  /// Whether the client waits for `100 Continue` before it sends the body.
  package internal(set) var expectsContinue = false
  /// Whether `Upgrade` is present and named by `Connection`, in a version that supports it.
  package internal(set) var asksForUpgrade = false
  var parts = RequestTarget(whole: 0..<0, path: 0..<0, query: nil, authority: nil)
  var host: Range<Int>?

  package init() {}

  /// The target as it was sent.
  package var target: ArraySlice<UInt8> { fields.bytes[parts.whole] }

  package func targetStarts(with prefix: StaticString) -> Bool {
    let count = prefix.utf8CodeUnitCount
    guard parts.whole.count >= count else { return false }
    return fields.bytes.withUnsafeBytes { bytes in
      let start = parts.whole.lowerBound
      return ByteComparison.areEqual(
        UnsafeRawBufferPointer(rebasing: bytes[start..<start &+ count]),
        UnsafeRawBufferPointer(start: prefix.utf8Start, count: count))
    }
  }

  package func targetEquals(_ text: StaticString) -> Bool {
    parts.whole.count == text.utf8CodeUnitCount && targetStarts(with: text)
  }

  /// Returns a number that depends on the bytes of the target and of a field's first value, without taking
  /// hold of either.
  ///
  /// - Parameters:
  ///   - name: in lower case.
  ///   - body: gets no bytes for an absent field.
  package func withTarget(
    and name: StaticString,
    _ body: (_ target: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int
  ) -> Int {
    let value = fields.range(of: name) ?? 0..<0
    return fields.bytes.withUnsafeBytes { bytes in
      body(
        UnsafeRawBufferPointer(rebasing: bytes[parts.whole]),
        UnsafeRawBufferPointer(rebasing: bytes[value]))
    }
  }

  /// The path, still percent-encoded; starts with `/`, or is `*`.
  package var path: ArraySlice<UInt8> { fields.bytes[parts.path] }

  /// The part of the target after the first `?`.
  package var query: ArraySlice<UInt8>? { parts.query.map { fields.bytes[$0] } }

  /// The requested host: the target's own, otherwise the `Host` field.
  package var authority: ArraySlice<UInt8>? {
    (parts.authority ?? host).map { fields.bytes[$0] }
  }

  /// Whether the request announces content.
  package var hasBody: Bool { framing != .none && framing != .length(0) }

  /// The first value of a field.
  ///
  /// - Parameter name: in lower case.
  package subscript(name: StaticString) -> ArraySlice<UInt8>? { fields[name] }

  mutating func reset() {
    fields.removeAll()
    method = .get
    minorVersion = 1
    framing = .none
    keepsAlive = true
    expectsContinue = false
    asksForUpgrade = false
    parts = RequestTarget(whole: 0..<0, path: 0..<0, query: nil, authority: nil)
    host = nil
  }
}

extension RequestHead {
  /// The limit that the head exceeds; nil for none.
  func excess(over limits: HeadLimits) -> RequestError? {
    if fields.lines.count > limits.fieldsMax { return .tooManyFields }
    let isTooLong = fields.lines.contains { line in
      Int(line.value.upperBound) - Int(line.name.lowerBound) > limits.fieldBytesMax
    }
    if isTooLong { return .fieldTooLarge }
    return !fields.lines.isEmpty && fields.bytes.count > limits.headBytesMax ? .headTooLarge : nil
  }
}
