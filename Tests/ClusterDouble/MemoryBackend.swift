package import Cluster
internal import Model
internal import Synchronization
internal import Transport

/// One node's access to a ``MemoryCluster``. It passes the same contract suite as `PostgresBackend`.
package final class MemoryBackend: ClusterBackend {
  private let cluster: MemoryCluster
  private let nodeLiveFor: Duration
  private let isClosed = Mutex(false)

  package init(_ cluster: MemoryCluster, nodeLiveFor: Duration = .seconds(10)) {
    self.cluster = cluster
    self.nodeLiveFor = nodeLiveFor
  }

  package func close() async { isClosed.withLock { $0 = true } }

  private func call<Value: Sendable>(
    _ body: (inout MemoryCluster.State) throws(ClusterError) -> Value
  ) throws(ClusterError) -> Value {
    if isClosed.withLock({ $0 }) { throw .unavailable("the connections are closed") }
    return try cluster.call(body)
  }

  package func prepare() async throws(ClusterError) { try call { _ in } }

  package func losses() async throws(ClusterError) -> [String] {
    try call { $0.faults.isLogLost ? ["the rows of the table `log`"] : [] }
  }

  package func identity() async throws(ClusterError) -> String {
    try call { state in "memory \(state.identity)" }
  }

  package func erase() async throws(ClusterError) {
    try call { state throws(ClusterError) in
      guard state.lease.until <= state.now else { throw .fenced }
      let (advanced, identity) = (state.advanced, state.identity)
      state = MemoryCluster.State()
      (state.advanced, state.identity) = (advanced, identity + 1)
    }
  }

  // MARK: Lease

  package func lease() async throws(ClusterError) -> Lease? {
    try call { state in
      let held = state.lease
      guard held.until > state.now else { return nil }
      return Lease(
        epoch: held.epoch, holder: held.node, url: held.url, digest: held.digest,
        validFor: held.until.elapsed(since: state.now))
    }
  }

  package func take(
    _ me: NodeRecord, for duration: Duration
  ) async throws(ClusterError) -> Lease? {
    try call { state in
      let (held, now) = (state.lease, state.now)
      let isMine = held.until > now && held.node == me.id
      let isForMe = held.heir == nil || held.heir == me.id || held.heirUntil <= now
      guard isMine || (held.until <= now && isForMe) else { return nil }
      state.lease = MemoryCluster.HeldLease(
        epoch: held.epoch + 1, node: me.id, url: me.url, digest: me.digest, until: now + duration,
        length: duration)
      return Lease(
        epoch: held.epoch + 1, holder: me.id, url: me.url, digest: me.digest, validFor: duration)
    }
  }

  package func renew(
    _ lease: Lease, for duration: Duration
  ) async throws(ClusterError) -> Bool {
    try call { state in
      guard state.lease.epoch == lease.epoch, state.lease.node == lease.holder else { return false }
      state.lease.until = state.now + duration
      state.lease.length = duration
      return true
    }
  }

  package func release(_ lease: Lease, to heir: NodeID?) async throws(ClusterError) {
    try call { state in
      guard state.lease.epoch == lease.epoch, state.lease.node == lease.holder else { return }
      state.lease.node = NodeID("")
      state.lease.until = LoopInstant(nanoseconds: 0)
      state.lease.heir = heir
      state.lease.heirUntil = state.now + state.lease.length
    }
    cluster.logSignal.notify()
  }

  package func succession() async throws(ClusterError) -> Succession {
    try call { state in
      let held = state.lease
      return Succession(digest: held.digest, heir: held.heirUntil > state.now ? held.heir : nil)
    }
  }

  // MARK: Log

  package func head() async throws(ClusterError) -> LogHead {
    try call { state throws(ClusterError) in
      guard !state.faults.isLogLost else { throw .faulty("the rows of the log are lost") }
      return LogHead(position: state.head, floor: state.floor, epoch: state.rows.last?.epoch ?? 0)
    }
  }

  package func rows(
    after position: Int64, bytesMax: Int
  ) async throws(ClusterError) -> [LogRow] {
    try call { state throws(ClusterError) in
      if state.faults.isLogLost { return [] }
      guard position >= state.floor else {
        throw .faulty("the rows after \(position) were removed: start from a snapshot")
      }
      var (found, bytes): ([LogRow], Int) = ([], 0)
      for row in state.rows where row.position > position {
        if !found.isEmpty, bytes >= bytesMax { break }
        bytes += row.payload.count
        found.append(row)
      }
      return found
    }
  }

  package func appender(of lease: Lease) throws(ClusterError) -> any LogAppender {
    MemoryAppender(cluster, lease)
  }

  package func trim(upTo position: Int64) async throws(ClusterError) {
    try call { state in
      let last = min(position, state.head - 1)
      state.rows.removeAll { $0.position <= last }
      state.floor = max(state.floor, last)
    }
  }

  package func waitForRows(after position: Int64, atMost limit: Duration) async {
    let seen = cluster.logSignal.count
    if cluster.ends.log > position { return }
    await cluster.logSignal.wait(after: seen, atMost: limit)
  }

  // MARK: Inbox

  package func submit(_ entries: [InboxEntry]) async throws(ClusterError) -> [InboxReceipt] {
    let (receipts, isLost) = try call { state in
      let isLost = state.faults.isSubmissionLost
      state.faults.isSubmissionLost = false
      let at = Timestamp(milliseconds: LoopClock.wallTime())
      let receipts = entries.map { entry in
        let same = state.inbox.first { $0.device == entry.device && $0.key == entry.key }
        if let same { return InboxReceipt(number: same.number, isNew: false) }
        state.lastNumber += 1
        state.inbox.append(
          InboxEntry(
            number: state.lastNumber, device: entry.device, key: entry.key, body: entry.body, at: at
          ))
        return InboxReceipt(number: state.lastNumber, isNew: true)
      }
      return (receipts, isLost)
    }
    cluster.inboxSignal.notify()
    if isLost { throw .inDoubt("the connection ended") }
    return receipts
  }

  package func inbox(
    after number: Int64, limit: Int
  ) async throws(ClusterError) -> [InboxEntry] {
    try call { state in Array(state.inbox.lazy.filter { $0.number > number }.prefix(limit)) }
  }

  package func inbox(of device: String) async throws(ClusterError) -> [InboxEntry] {
    try call { state in state.inbox.filter { $0.device == device } }
  }

  package func inboxState() async throws(ClusterError) -> InboxState {
    try call { state in
      let now = Timestamp(milliseconds: LoopClock.wallTime())
      return InboxState(
        count: state.inbox.count, lastNumber: state.lastNumber,
        oldestAge: state.inbox.first.map { $0.at.elapsed(until: now) })
    }
  }

  package func removeInbox(_ numbers: [Int64]) async throws(ClusterError) {
    let removed = Set(numbers)
    try call { state in state.inbox.removeAll { removed.contains($0.number) } }
  }

  package func waitForInbox(after number: Int64, atMost limit: Duration) async {
    let seen = cluster.inboxSignal.count
    if cluster.ends.inbox > number { return }
    await cluster.inboxSignal.wait(after: seen, atMost: limit)
  }

  // MARK: Nodes

  package func beat(_ me: NodeRecord) async throws(ClusterError) {
    try call { state throws(ClusterError) in
      if let known = state.nodes[me.id], state.now.elapsed(since: known.seen) <= nodeLiveFor,
        !known.record.place.isEmpty, !me.place.isEmpty, known.record.place != me.place
      {
        throw .twin(url: known.record.url)
      }
      state.nodes[me.id] = (me, state.now)
    }
  }

  package func nodes() async throws(ClusterError) -> [NodeRecord] {
    try call { state in
      state.nodes.values.map { node in
        let seenAgo = state.now.elapsed(since: node.seen)
        return NodeRecord(
          id: node.record.id, url: node.record.url, position: node.record.position,
          version: node.record.version, digest: node.record.digest,
          isCandidate: node.record.isCandidate, place: node.record.place, seenAgo: seenAgo,
          isLive: seenAgo <= nodeLiveFor)
      }.sorted { $0.id < $1.id }
    }
  }

  package func remove(_ id: NodeID) async throws(ClusterError) {
    try call { state in state.nodes[id] = nil }
  }

  // MARK: Snapshots

  package func latestSnapshot() async throws(ClusterError) -> SnapshotInfo? {
    try call { state in state.snapshots.map(\.info).max { $0.position < $1.position } }
  }

  package func putSnapshot(
    position: Int64, file: String, version: String
  ) async throws(ClusterError) -> SnapshotInfo {
    let reader = try SnapshotReader(file)
    var bytes: [UInt8] = []
    while case let next = try reader.next(1 << 20), !next.isEmpty { bytes += next }
    return try call { state in
      state.lastSnapshot += 1
      let info = SnapshotInfo(
        id: state.lastSnapshot, position: position, byteCount: Int64(bytes.count),
        sha256: reader.digest, made: Timestamp(milliseconds: LoopClock.wallTime()),
        version: version)
      state.snapshots = state.snapshots.suffix(1) + [(info, bytes)]
      return info
    }
  }

  package func getSnapshot(
    _ info: SnapshotInfo, into file: String
  ) async throws(ClusterError) {
    let bytes = try call { state in state.snapshots.first { $0.info.id == info.id }?.bytes }
    guard let bytes else { throw .unavailable("snapshot \(info.id) was removed") }
    let writer = try SnapshotWriter(file)
    do throws(ClusterError) {
      try writer.append(bytes)
      try writer.finish(info)
    } catch {
      writer.discard()
      throw error
    }
  }
}

private final class MemoryAppender: LogAppender {
  private let cluster: MemoryCluster
  private let lease: Lease
  private let isClosed = Mutex(false)

  init(_ cluster: MemoryCluster, _ lease: Lease) {
    self.cluster = cluster
    self.lease = lease
  }

  func append(_ payload: [UInt8], at position: Int64) throws(ClusterError) {
    if isClosed.withLock({ $0 }) { throw .unavailable("the session is closed") }
    defer { cluster.logSignal.notify() }
    try cluster.call { state throws(ClusterError) in
      let lost = state.faults.lostAppend.take()
      if lost == false { throw .inDoubt("the connection ended") }
      let isHeld = state.lease.epoch == lease.epoch && state.lease.node == lease.holder
      guard isHeld, state.lease.until > state.now, position == state.head + 1 else { throw .fenced }
      state.rows.append(LogRow(position: position, epoch: lease.epoch, payload: payload))
      if lost == true { throw .inDoubt("the connection ended") }
    }
  }

  func close() { isClosed.withLock { $0 = true } }
}
