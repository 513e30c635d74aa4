import HTTPWire

/// A path split at its slashes, each segment decoded by itself.
enum PathSegments {
  /// Segments in a path. No route matches a deeper one.
  static let segmentsMax = 64

  /// Returns the segments of a path that starts with `/`; `nil` if one cannot be decoded, or is `.` or
  /// `..`, which clients must resolve themselves.
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
