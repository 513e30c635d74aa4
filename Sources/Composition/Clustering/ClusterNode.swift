import Cluster
import Cryptography
import FoundationEssentials
import Gateway
import HTTPClient
import Logging
import Model
import Storage
import Synchronization
import Transport

/// This process as a node of a cluster: what it knows of the others, and its part. It outlives deployments, which a
/// change of the part replaces, see ``ClusterLoop``.
final class ClusterNode: Sendable {
  /// The node's part in the deployment that is open or is opened next.
  enum Part: Sendable {
    case leader(Lease)
    case replica
  }

  /// What is to be done between two deployments, while the data folder is free.
  enum Errand: Sendable {
    /// Ends the lease, so that another node can lead.
    case release(Lease, to: NodeID?)
    /// Replaces the database by the snapshot that was fetched.
    ///
    /// - Parameter aside: see ``SnapshotPlacing/place(keepingAhead:)``.
    case replaceDatabase(aside: Int64?)
  }

  private struct State {
    /// The name that the cluster got when it was made; nil before PostgreSQL was reached.
    var cluster: String?
    var part = Part.replica
    var errand: Errand?
    /// The store that is open, and what is kept in memory of it.
    var open: Opened?
    var leader: Lease?
    /// The end of the log, as far as this node knows, and since when it has not applied it.
    var head: Int64 = 0
    var behindSince: ContinuousClock.Instant?
    var inboxEntries: Int?
    /// Bytes appended since the last snapshot.
    var bytesAppended = 0
    /// The other nodes, as they were last found.
    var others: [NodeID] = []
    /// The hosts of their addresses.
    var otherHosts: Set<String> = []
    /// Whether the node leads no more, although its deployment is a leader's.
    var hasLost = false
    /// A moment before the lease was last taken or renewed; nil before that.
    var leaseKept: ContinuousClock.Instant?
    /// Whether the database was found to go on where the log does, since PostgreSQL was last reached.
    var isCompared = false
    /// When each reason was last logged, see ``isNew(_:)``.
    var noted: [String: ContinuousClock.Instant] = [:]
    /// The address of another process that has become this node.
    var twin: String?
    /// The position of the database while it is not open.
    var closedPosition: Int64 = 0
  }

  /// What the loop needs of the deployment that is open.
  struct Opened: Sendable {
    let store: Store
    let memories: AppliedTables
  }

  /// How long a lease or an append can take, as a part of the lease's time.
  static let renewals = 4
  /// How often replicas look for the leader.
  static let lookInterval = Duration.milliseconds(200)

  let id: NodeID
  let backend: any ClusterBackend
  let settings: ClusterSettings
  let forwarding: ForwardingAssembly
  let signature: NodeSignature
  var meters: ClusterMeters { forwarding.meters }
  private let candidacy = CandidacyRule()
  let logger: Logger
  let folder: DataFolder
  /// See ``NodeRecord/place``.
  let place: String
  private let state = Mutex(State())
  /// Notified whenever the loop has something to do at once.
  let signal: AsyncSignal

  init(
    id: NodeID, backend: any ClusterBackend, settings: ClusterSettings, folder: DataFolder,
    signature: NodeSignature, forwarding: ForwardingAssembly, logger: Logger
  ) {
    self.id = id
    self.backend = backend
    self.settings = settings
    self.folder = folder
    place = NodePlace.name(of: folder.path)
    self.signature = signature
    self.forwarding = forwarding
    self.logger = logger
    signal = AsyncSignal(sleep: { try await Task.sleep(for: $0) })
  }

  var link: LeaderLink { forwarding.duties.link }

  /// What deployments know of the node.
  var membership: ClusterMembership {
    ClusterMembership(signature: signature) { [unowned self] in
      let answer = NodeAnswer(
        node: id.text, cluster: { [unowned self] in cluster }, signature: signature,
        clock: SystemClock.wall)
      guard let lease else {
        var duties = forwarding.duties
        duties.answer = answer
        return .replica(duties)
      }
      return .leader(
        LeaderDuties(
          position: { [unowned self] in position }, progress: self,
          isCutOff: { [unowned self] in hasLeaseEnded }, term: "\(id).\(lease.epoch)",
          answer: answer))
    }
  }

  var advertised: String { settings.advertise.map { "\($0)" } ?? "" }

  /// Notes which cluster PostgreSQL has.
  func note(cluster: String) { state.withLock { $0.cluster = cluster } }

  var cluster: String? { state.withLock { $0.cluster } }

  /// The root secret of a new data folder: the same on every node, derived from the secret that they share.
  func rootBytes() -> [UInt8] {
    let secret = settings.secret?.revealed ?? ""
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Array(secret.utf8)),
      info: Array("larder/cluster root".utf8),
      outputByteCount: 32)
    return key.withUnsafeBytes { Array($0) }
  }

  // MARK: Part

  var part: Part { state.withLock { $0.part } }

  /// The lease under which this node leads; nil if it does not.
  var lease: Lease? {
    if case .leader(let lease) = part { lease } else { nil }
  }

  /// See ``noteLost(_:)``.
  func setLost() { state.withLock { $0.hasLost = true } }

  func become(_ part: Part, after errand: Errand? = nil) {
    state.withLock { state in
      state.part = part
      state.errand = errand
    }
  }

  /// Whether the store that is open is a leader's that takes no more writes.
  var hasLost: Bool { state.withLock { $0.hasLost } }

  /// Notes that PostgreSQL has taken or renewed the lease.
  ///
  /// - Parameter moment: when it was asked. The lease is valid for its time from then on at least, also if this
  ///   process is stopped in between.
  func noteLeaseKept(at moment: ContinuousClock.Instant) {
    state.withLock { $0.leaseKept = max($0.leaseKept ?? moment, moment) }
  }

  /// Whether another node may lead, as far as this node, a leader, knows without PostgreSQL.
  var hasLeaseEnded: Bool {
    state.withLock { state in
      state.hasLost || state.leaseKept.map { .now - $0 > settings.lease } ?? true
    }
  }

  /// The part of the store to be opened.
  func storeRole() throws(StartFailure) -> StoreRole {
    guard case .leader(let lease) = part, let cluster = state.withLock({ $0.cluster }) else {
      return .replica
    }
    do throws(ClusterError) {
      let appender = try backend.appender(of: lease)
      return .leader(
        cluster: cluster, epoch: lease.epoch,
        log: LeasedLog(appender: appender, meters: meters) { [weak self] in
          self?.noteAppended(bytes: $0)
        })
    } catch {
      throw StartFailure(.faultySettings, "The log of the cluster cannot be written: \(error)")
    }
  }

  /// Notes the deployment that was opened.
  func noteOpened(_ opened: Opened) {
    state.withLock { state in
      state.open = opened
      state.hasLost = false
    }
    link.note(openedAt: opened.store.position)
    guard case .leader(let lease) = part else { return }
    link.note(leader: reach(lease))
    opened.store.whenLeadingEnds { [weak self] error in
      guard let self else { return }
      logger.warning("this node leads no more", metadata: ["cause": "\(error)"])
      state.withLock { $0.hasLost = true }
      signal.notify()
    }
  }

  func noteClosed() {
    state.withLock { state in
      if let open = state.open { state.closedPosition = open.store.position }
      state.open = nil
    }
  }

  var opened: Opened? { state.withLock { $0.open } }

  /// The last row of the log that the node's database has.
  var position: Int64 { opened?.store.position ?? state.withLock { $0.closedPosition } }

  /// Notes the position of the database, which is not open.
  func note(closedPosition position: Int64) { state.withLock { $0.closedPosition = position } }

  func takeErrand() -> Errand? { state.withLock { $0.errand.take() } }

  /// Whether this node may take a lease that no node holds.
  func mayLead(digest: String) async throws(ClusterError) -> Bool {
    let succession = try await backend.succession()
    // It was named by the last leader, or by an operator, and takes the lease in a moment.
    if let heir = succession.heir, heir != id { link.noteHandover() }
    guard settings.isCandidate else { return false }
    return candidacy.mayLead(id, digest: digest, succession, among: try await backend.nodes())
  }

  /// The address of another process that has become this node, which must end.
  var twin: String? { state.withLock { $0.twin } }

  func note(twin url: String) {
    state.withLock { $0.twin = url }
    signal.notify()
  }

  // MARK: Comparison with the log

  /// Whether the database was found to go on where the log does. It must be found again after each error of
  /// PostgreSQL: another server can respond by then, without the end of the log.
  var isCompared: Bool { state.withLock { $0.isCompared } }

  func note(isCompared: Bool) {
    state.withLock { $0.isCompared = isCompared }
  }

  // MARK: Log lines of what repeats

  /// How often a reason that stays is logged.
  private static let noteInterval = Duration.seconds(60)
  /// Of reasons that are remembered: some have positions in their texts.
  private static let notedMax = 32

  /// Whether something that fails is to be logged: a reason once a minute, until it has ended.
  func isNew(_ reason: String, at now: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in
      if let last = state.noted[reason], now - last < Self.noteInterval { return false }
      if state.noted.count >= Self.notedMax { state.noted = [:] }
      state.noted[reason] = now
      return true
    }
  }

  /// Notes that what failed works again, so that the next failure is logged at once.
  ///
  /// - Parameter part: with which its reasons begin.
  func noteWorks(_ part: String) {
    state.withLock { state in
      for reason in state.noted.keys where reason.hasPrefix(part) { state.noted[reason] = nil }
    }
  }

  // MARK: Leader

  /// Notes who leads, for forwarded requests.
  func note(leader: Lease?) {
    let changed = state.withLock { state in
      defer { state.leader = leader }
      return state.leader?.epoch != leader?.epoch || state.leader?.holder != leader?.holder
    }
    link.note(
      leader: leader.flatMap { lease in
        // This node only once it is open as the leader, for requests that have waited for one.
        lease.holder != id || self.lease == lease && opened != nil ? reach(lease) : nil
      })
    guard changed else { return }
    logger.notice(
      leader == nil ? "the cluster has no leader" : "the cluster has a leader",
      metadata: leader.map {
        ["node": "\($0.holder)", "url": "\($0.url)", "epoch": "\($0.epoch)"]
      })
  }

  private func reach(_ lease: Lease) -> LeaderLink.Leader? {
    (try? HTTPURL(lease.url)).map {
      LeaderLink.Leader(node: lease.holder.text, url: $0, epoch: lease.epoch)
    }
  }

  /// Forgets the leader, which was this node, until the loop has looked for the next one.
  func forgetLeader() {
    state.withLock { $0.leader = nil }
    link.forgetLeader()
    logger.notice("the cluster has no leader")
  }

  var leader: Lease? { state.withLock { $0.leader } }

  /// Takes the node, which serves nothing any more, out of the list of nodes: no response names it from now on as one
  /// that has not applied something, so it may not serve before it has reached PostgreSQL again.
  func leave() async {
    folder.note(hasLeft: true)
    do throws(ClusterError) {
      try await backend.remove(id)
    } catch {
      folder.note(hasLeft: false)
    }
  }

  // MARK: Measures

  /// The other nodes of the cluster, live or not, as they were last found.
  var others: [NodeID] { state.withLock { $0.others } }

  func note(others: [NodeID]) { state.withLock { $0.others = others } }

  /// The hosts at which the other nodes say they are, as they were last found.
  var otherHosts: Set<String> { state.withLock { $0.otherHosts } }

  func note(otherHosts: Set<String>) { state.withLock { $0.otherHosts = otherHosts } }

  /// Notes the end of the log.
  func note(head: Int64) {
    let own = position
    state.withLock { state in
      state.head = max(state.head, head)
      if own >= state.head {
        state.behindSince = nil
      } else if state.behindSince == nil {
        state.behindSince = .now
      }
    }
  }

  /// Notes the end of a log that can have lost rows.
  func note(comparedHead head: Int64) {
    state.withLock { $0.head = head }
    note(head: head)
  }

  func note(inboxEntries count: Int?) { state.withLock { $0.inboxEntries = count } }

  func noteAppended(bytes: Int) { state.withLock { $0.bytesAppended += bytes } }

  /// Bytes appended to the log since the last snapshot.
  var bytesAppended: Int { state.withLock { $0.bytesAppended } }

  func noteSnapshot() { state.withLock { $0.bytesAppended = 0 } }

  /// This node as others see it.
  func record(digest: String) -> NodeRecord {
    NodeRecord(
      id: id, url: advertised, position: position, version: Version.text, digest: digest,
      isCandidate: settings.isCandidate, place: place, seenAgo: .zero, isLive: true)
  }
}

/// Appends a leader's transactions under its lease.
private final class LeasedLog: CommitLog {
  private let appender: any LogAppender
  private let meters: ClusterMeters
  private let appended: @Sendable (Int) -> Void

  /// - Parameter appended: called with the number of bytes of each row.
  init(
    appender: any LogAppender, meters: ClusterMeters, appended: @escaping @Sendable (Int) -> Void
  ) {
    self.appender = appender
    self.meters = meters
    self.appended = appended
  }

  deinit { appender.close() }

  func append(_ payload: [UInt8], at position: Int64) throws(CommitLogError) {
    let start = ContinuousClock.now
    defer { meters.noteAppend(ContinuousClock.now - start) }
    do throws(ClusterError) {
      try appender.append(payload, at: position)
      appended(payload.count)
    } catch {
      switch error {
      case .unavailable(let reason), .faulty(let reason): throw .unavailable(reason)
      case .fenced, .twin: throw .notLeader
      case .inDoubt(let reason): throw .inDoubt(reason)
      }
    }
  }
}

extension ClusterNode: ClusterStatus {
  var measures: ClusterMeasures {
    let own = position
    let isLeader = lease != nil
    // A leader whose lease is over learns nothing of what the next one appends.
    let isCutOff = isLeader ? hasLeaseEnded : link.isCutOff
    let unknownFor = isLeader ? nil : link.cutOffFor
    return state.withLock { state in
      let head = isLeader ? own : max(state.head, own)
      var lag = isLeader ? .zero : state.behindSince.map { .now - $0 } ?? .zero
      if isCutOff { lag = max(lag, unknownFor ?? state.leaseKept.map { .now - $0 } ?? .zero) }
      return ClusterMeasures(
        position: own, lagRows: head - own, lag: lag, epoch: state.leader?.epoch ?? 0,
        isLeader: isLeader, isCutOff: isCutOff,
        inboxEntries: isCutOff ? nil : state.inboxEntries)
    }
  }

  func report() async -> ClusterReport {
    await ClusterReport(of: backend, name: settings.name, node: id.text)
  }
}
