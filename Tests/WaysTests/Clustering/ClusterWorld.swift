import Composition
import DemoUpstream
import Foundation
import Gateway
import HTTPClient
import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing
import Transport

/// Two nodes in this process: a leader and a replica, which has a copy of the leader's data. There is no log
/// between them: a test reports positions itself.
///
/// Each node has a film library of its own as its upstream, so that the replica's calls are counted.
final class ClusterWorld {
  /// The log's position and the replicas' progress, as the leader sees them.
  final class Log: ReplicaProgress {
    private struct State {
      var position: Int64 = 0
      var waits: [Int64] = []
      var applied = ["n_2"]
      var pending: [String] = []
      var isCutOff = false
    }

    private let state = Mutex(State())

    /// Increases with each look: every request is at a position of its own.
    var next: Int64 {
      state.withLock { state in
        state.position += 1
        return state.position
      }
    }

    var position: Int64 { state.withLock { $0.position } }
    /// The positions that were waited for.
    var waits: [Int64] { state.withLock { $0.waits } }

    /// Whether the leader could not renew its lease.
    var isCutOff: Bool {
      get { state.withLock { $0.isCutOff } }
      set { state.withLock { $0.isCutOff = newValue } }
    }

    func answer(applied: [String], pending: [String]) {
      state.withLock { state in
        state.applied = applied
        state.pending = pending
      }
    }

    func waitUntilApplied(
      _ position: Int64, atMost limit: Duration
    ) async -> (applied: [String], pending: [String]) {
      state.withLock { state in
        state.waits.append(position)
        return (state.applied, state.pending)
      }
    }
  }

  private static let secret = Array(repeating: UInt8(7), count: 32)
  static let signature = NodeSignature(secret: secret)

  /// The forwarding of the replica, which is made when that opens.
  private final class Forwarding: Sendable {
    let assembly = Mutex<ForwardingAssembly?>(nil)
  }

  let leader: RunningLarder
  let replica: RunningLarder
  let log: Log
  let link: LeaderLink
  private let forwarding: Forwarding

  private init(
    leader: RunningLarder, replica: RunningLarder, log: Log, link: LeaderLink,
    forwarding: Forwarding
  ) {
    self.leader = leader
    self.replica = replica
    self.log = log
    self.link = link
    self.forwarding = forwarding
  }

  /// - Parameters:
  ///   - leader: a running service alone, whose data the replica starts with; it becomes the leader.
  ///   - replicaSignature: of the replica, if its secret is another one.
  ///   - streamsMax: the streams that the replica passes on at a time.
  ///   - appliesAll: whether the replica seems to have applied every position, so that nothing waits.
  static func start(
    _ leader: RunningLarder, replicaSignature: NodeSignature = signature,
    streamsMax: Int = RelayPlaces.streamsMax, appliesAll: Bool = true
  ) async throws -> ClusterWorld {
    await leader.stopService()
    let log = Log()
    leader.membership = { _ in
      ClusterMembership(signature: signature) {
        .leader(
          LeaderDuties(
            position: { log.next }, progress: log, isCutOff: { log.isCutOff },
            answer: answer("n_1")))
      }
    }
    let forwarding = Forwarding()
    let logger = leader.log.logger
    let replica = try await leader.copy { group in
      let assembly = ForwardingAssembly(
        node: "n_2", signature: replicaSignature, group: group, tls: nil, logger: logger,
        streamsMax: streamsMax)
      forwarding.assembly.withLock { $0 = assembly }
      var duties = assembly.duties
      duties.answer = answer("n_2")
      return ClusterMembership(signature: signature) { [duties] in .replica(duties) }
    }
    try await leader.startService()
    let assembly = try #require(forwarding.assembly.withLock { $0 })
    let world = ClusterWorld(
      leader: leader, replica: replica, log: log, link: assembly.duties.link,
      forwarding: forwarding)
    try world.noteLeader()
    if appliesAll { world.link.note(position: .max) }
    return world
  }

  private static func answer(_ node: String) -> NodeAnswer {
    NodeAnswer(
      node: node, cluster: { "the cluster" }, signature: signature,
      clock: WallClock { Timestamp(milliseconds: LoopClock.wallTime()) })
  }

  /// Tells the replica where the leader is; at a port that no process listens on if it is away.
  func noteLeader(epoch: Int64 = 1, isAway: Bool = false) throws {
    try noteLeader(atPort: isAway ? 1 : leader.port, epoch: epoch)
  }

  func noteLeader(atPort port: Int, epoch: Int64) throws {
    link.note(
      leader: LeaderLink.Leader(
        node: "n_1", url: try HTTPURL("http://127.0.0.1:\(port)"), epoch: epoch))
  }

  /// The number of calls that the replica's own upstream got.
  var replicaCalls: Int { replica.demo.report.requests }

  func stop() async {
    await replica.stop()
    await forwarding.assembly.withLock { $0 }?.close()
    await leader.stop()
  }
}

extension RawResponse {
  /// The `code` of a problem.
  var problem: String? { (try? JSONValue(parsing: body))?["code"]?.string }
}
