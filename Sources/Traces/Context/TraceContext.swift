/// A place in a trace, as services tell it to each other (W3C Trace Context).
package struct TraceContext: Hashable, Sendable {
  package let traceID: TraceID
  /// The span that calls: the parent of the spans that the called service makes.
  package let spanID: SpanID
  /// Whether the caller records its spans.
  package let isSampled: Bool
  /// Whether the trace id is random (flag of level 2 of the specification), which is passed on.
  package let isRandom: Bool
  /// The value of `tracestate`; empty for none. It is passed on as it is.
  package var state: String

  package init(
    traceID: TraceID, spanID: SpanID, isSampled: Bool, isRandom: Bool = false, state: String = ""
  ) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
    self.isRandom = isRandom
    self.state = state
  }

  /// Reads the fields of a request.
  ///
  /// - Parameters:
  ///   - parents: the values of all `traceparent` fields. With more than one none is valid, since it is
  ///     unknown which one the caller meant.
  ///   - states: the values of all `tracestate` fields. If they are not valid together, the trace
  ///     continues without them (section 3.3.1.5, "vendors MUST NOT" let them affect `traceparent`).
  /// - Returns: nil if there is no valid `traceparent`: a new trace begins.
  package init?(parents: [ArraySlice<UInt8>], states: @autoclosure () -> [ArraySlice<UInt8>]) {
    guard parents.count == 1, let parent = Self.read(parents[0]) else { return nil }
    self = parent
    state = TraceState.joined(states()) ?? ""
  }

  /// Reads one `traceparent`; nil if it is not valid.
  package init?(traceparent: String) {
    guard let context = Self.read(ArraySlice(traceparent.utf8)) else { return nil }
    self = context
  }

  /// The value of `traceparent`: version 00, and the flags that this service knows.
  package var traceparent: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.bytesInVersion0)
    bytes.append(contentsOf: "00-".utf8)
    traceID.append(to: &bytes)
    bytes.append(Self.dash)
    spanID.append(to: &bytes)
    bytes.append(Self.dash)
    HexadecimalNumber.append(UInt64(flags), digits: 2, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The trace flags (section 3.2.2.5).
  package var flags: UInt8 { (isSampled ? Self.sampled : 0) | (isRandom ? Self.random : 0) }

  private static let dash = UInt8(ascii: "-")
  private static let sampled: UInt8 = 0x01
  private static let random: UInt8 = 0x02
  /// `00-` + 32 + `-` + 16 + `-` + 2.
  private static let bytesInVersion0 = 55
  /// Later versions can be longer; nothing sends this much.
  private static let bytesMax = 256

  /// Reads a value of any version but `ff`; of versions after 00 only the parts that 00 has are read
  /// (section 3.2.4, versioning of `traceparent`).
  private static func read(_ text: ArraySlice<UInt8>) -> TraceContext? {
    guard text.count >= bytesInVersion0, text.count <= bytesMax else { return nil }
    let start = text.startIndex
    func part(_ offset: Int, _ count: Int) -> ArraySlice<UInt8> {
      text[start + offset..<start + offset + count]
    }
    guard text[start + 2] == dash, text[start + 35] == dash, text[start + 52] == dash,
      let version = HexadecimalNumber.read(part(0, 2)), version != 0xFF,
      let high = HexadecimalNumber.read(part(3, 16)),
      let low = HexadecimalNumber.read(part(19, 16)),
      let span = HexadecimalNumber.read(part(36, 16)),
      let flags = HexadecimalNumber.read(part(53, 2)),
      let traceID = TraceID(high: high, low: low), let spanID = SpanID(span)
    else { return nil }
    if text.count > bytesInVersion0 {
      guard version > 0, text[start + bytesInVersion0] == dash else { return nil }
    }
    return TraceContext(
      traceID: traceID, spanID: spanID, isSampled: flags & UInt64(sampled) != 0,
      isRandom: flags & UInt64(random) != 0)
  }
}
