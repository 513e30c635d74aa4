internal import Cluster
internal import Model
internal import Synchronization
internal import Transport

/// What the nodes of a cluster share, in memory: each node gets a ``MemoryBackend`` of it.
///
/// Its clock runs with the machine's, and can be advanced; the faults of a database can be switched on.
package final class MemoryCluster: Sendable {
  package struct Faults: Sendable {
    /// All calls throw `unavailable`.
    package var isAway = false
    /// The next append throws `inDoubt`: before it is done (false), or after it (true).
    package var lostAppend: Bool?
    /// The next submission throws `inDoubt`, although it was stored.
    package var isSubmissionLost = false
    /// The rows of the log are gone, as after `TRUNCATE`.
    package var isLogLost = false
  }

  struct HeldLease {
    var epoch: Int64 = 0
    var node = NodeID("")
    var url = ""
    var digest = ""
    var until = LoopInstant(nanoseconds: 0)
    var length = Duration.zero
    var heir: NodeID?
    var heirUntil = LoopInstant(nanoseconds: 0)
  }

  struct State {
    /// Larger by one with each erasure.
    var identity = 1
    var advanced = Duration.zero
    var faults = Faults()
    var lease = HeldLease()
    var rows: [LogRow] = []
    /// The position before the first of `rows`.
    var floor: Int64 = 0
    var inbox: [InboxEntry] = []
    var lastNumber: Int64 = 0
    var nodes: [NodeID: (record: NodeRecord, seen: LoopInstant)] = [:]
    var snapshots: [(info: SnapshotInfo, bytes: [UInt8])] = []
    var lastSnapshot: Int64 = 0

    var now: LoopInstant { LoopClock.now() + advanced }
    var head: Int64 { rows.last?.position ?? floor }
  }

  private let state = Mutex(State())
  let logSignal = AsyncSignal()
  let inboxSignal = AsyncSignal()

  package init() {}

  /// Lets the cluster's clock go forward, so that leases expire.
  package func advanceClock(by duration: Duration) {
    state.withLock { $0.advanced += duration }
  }

  /// Loses the end of the log, as a restore from a backup or the promotion of an asynchronous standby does.
  package func loseRows(after position: Int64) {
    state.withLock { state in state.rows.removeAll { $0.position > position } }
  }

  /// Changes what fails from now on.
  package func setFaults(_ change: @Sendable (inout Faults) -> Void) {
    state.withLock { change(&$0.faults) }
    logSignal.notify()
    inboxSignal.notify()
  }

  /// Runs a call on the shared state, unless the cluster is away.
  func call<Value: Sendable>(
    _ body: (inout State) throws(ClusterError) -> Value
  ) throws(ClusterError) -> Value {
    let result: Result<Value, ClusterError> = state.withLock { state in
      if state.faults.isAway { return .failure(.unavailable("the database is away")) }
      do throws(ClusterError) { return .success(try body(&state)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// The ends of the log and of the inbox.
  var ends: (log: Int64, inbox: Int64) { state.withLock { ($0.head, $0.lastNumber) } }
}
