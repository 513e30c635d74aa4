/// Why a call to what the nodes share has failed, by what the caller does next.
package enum ClusterError: Error, Equatable {
  /// Nothing was changed, or nothing could be requested: the call can be repeated later.
  case unavailable(String)
  /// Another node holds the lease, or the position is not the next one.
  case fenced
  /// An append or a submission was sent and its response is missing: it may be stored or not.
  case inDoubt(String)
  /// A live process with the same node id and another data folder: its address.
  case twin(url: String)
  /// Repetition does not help: tables of another version, a missing privilege, a pooler in between.
  case faulty(String)
}

extension ClusterError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unavailable(let reason): "the cluster's database is unavailable: \(reason)"
    case .fenced: "another node leads the cluster"
    case .inDoubt(let reason): "it is unknown whether the commit was stored: \(reason)"
    case .twin(let url): "another process runs as the same node, at \(url)"
    case .faulty(let reason): reason
    }
  }
}
