/// Why a call to what the nodes share has failed, by what the caller does next.
package enum ClusterError: Error, Equatable {
  /// Nothing was changed, or nothing could be requested: the call can be repeated later.
  case unavailable(String)
  /// Another node holds the lease, or the position is not the next one.
  case fenced
  /// An append was sent and its response is missing: it may be in the log or not.
  case inDoubt(String)
  /// Repetition does not help: tables of another version, a missing privilege, a pooler in between.
  case faulty(String)
}

extension ClusterError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unavailable(let reason): "the cluster's database is unavailable: \(reason)"
    case .fenced: "another node leads the cluster"
    case .inDoubt(let reason): "it is unknown whether the log has the commit: \(reason)"
    case .faulty(let reason): reason
    }
  }
}
