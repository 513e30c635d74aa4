import HTTPWire

/// A path split at its slashes, each segment decoded by itself.
enum PathSegments {
  /// Segments in a path. Deeper ones are no route's.
  static let segmentsMax = 64

  /// The segments of a path that starts with `/`; `nil` where one cannot be decoded or is `.` or
  /// `..`, by which no client may move about.
  static func decode(_ path: ArraySlice<UInt8>) -> [String]? {
    guard path.first == UInt8(ascii: "/") else { return nil }
    var segments: [String] = []
    let parts = path.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for part in parts {
      guard segments.count < segmentsMax, let segment = PercentCoding.decode(part),
        segment != ".", segment != ".."
      else { return nil }
      segments.append(segment)
    }
    return segments
  }
}
