/// Whole bodies as gzip, for whoever keeps coded bodies ready.
package enum Gzip {
  /// The compressed bytes; `nil` if they would not be fewer.
  package static func compress(_ bytes: [UInt8]) -> [UInt8]? { GzipEncoder()?.encode(bytes) }
}
