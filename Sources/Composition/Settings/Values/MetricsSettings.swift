/// Who may read the metrics, and where.
package struct MetricsSettings: Sendable {
  package enum Access: String, CaseIterable, Sendable {
    case open
    case admin
  }

  package var access = Access.open
  /// Addresses that serve nothing but metrics; none = the service's own.
  package var listen: [ListenAddress] = []
}
