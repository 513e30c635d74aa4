/// The path of a pattern without names, as it is sent where nothing in it is percent-encoded.
struct LiteralPath: Hashable {
  let bytes: ArraySlice<UInt8>

  init(bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  /// `nil` for a pattern with names.
  init?(_ pattern: RoutePattern) {
    var bytes: [UInt8] = []
    for segment in pattern.segments {
      guard case .literal(let text) = segment else { return nil }
      bytes.append(UInt8(ascii: "/"))
      bytes.append(contentsOf: text.utf8)
    }
    self.bytes = bytes[...]
  }

  /// Whether the path stands for the same segments once it is decoded.
  var isDecoded: Bool {
    guard let segments = PathSegments.decode(bytes) else { return false }
    return segments.map { "/\($0)" }.joined().utf8.elementsEqual(bytes)
  }

  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
