/// The name of an upstream in settings, metrics, logs and the sync queue.
package struct UpstreamName: Hashable, Sendable {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  /// The only upstream of a service whose settings give none a name.
  package static let sole = UpstreamName("default")
}

extension UpstreamName: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) {
    self.init(text)
  }
}

extension UpstreamName: Comparable {
  package static func < (left: UpstreamName, right: UpstreamName) -> Bool {
    left.text < right.text
  }
}

extension UpstreamName: CustomStringConvertible {
  package var description: String { text }
}
