import LosslessJSON
import Model
import SyncScheduler
import TestSupport
import Testing

@testable import Storage

struct OwnWritesOnNodesTests {
  @Test(
    "On any node, an own write shows from its acknowledgement to its outcome, and never twice",
    arguments: 0..<25 as Range<UInt64>)
  func ownWritesShowOnce(seed: UInt64) async throws {
    var nodes = try await OwnWritesOnNodes(seed: seed)
    for _ in 0..<80 {
      try await nodes.step()
      if let fault = try await nodes.faultOfARead() {
        Issue.record("seed \(seed): \(fault)\n  \(nodes.trail.joined(separator: "\n  "))")
        return
      }
    }
    #expect(nodes.shownBeforeDrain > 0, "seed \(seed): nothing was read before it was drained")
  }
}

/// One device that submits and reads on three nodes: a leader and two replicas, which apply the leader's real
/// log rows late.
///
/// The reads are prepared as ``Gateway/InboxMirror`` does it, with the cursor of the device's last response.
struct OwnWritesOnNodes: SeededChance {
  private struct Write {
    let number: Int64
    let id: MutationID
    let film: String
    let title: String
    /// The position of the commit with its outcome.
    var ended: Int64?
  }

  private static let device = "d_1"
  private static let viewer = Viewer(layers: [.device(device), .public])
  private static let films = ["1", "2", "3"]

  var generator: SeededGenerator
  private let fixture: ClusterFixture
  private let nodes: [Store]
  /// Keeps the replicas' files.
  private let folders: [TemporaryFolder]
  private var now = Timestamp(milliseconds: 1_000_000)
  private var call: Int64 = 1
  private var inbox: [InboxSubmission] = []
  private var mirrors: [[InboxSubmission]] = [[], [], []]
  private var writes: [Write] = []
  private var number: Int64 = 0
  /// Upstream's titles, by the position of the commit that stored them.
  private var titles: [(position: Int64, film: String, title: String)] = []
  /// What the cursor of the device's last response covers.
  private var cursor: (position: Int64, entry: Int64) = (0, 0)
  private(set) var shownBeforeDrain = 0
  private(set) var trail: [String] = []

  init(seed: UInt64) async throws {
    generator = SeededGenerator(seed: seed)
    fixture = try ClusterFixture()
    try await fixture.leader.register(DeviceTests.phone(Self.device), tokenDigest: "one")
    var response = ResponseBuilder(call: 1)
    for film in Self.films { response = response.film(film, ["title": .string("base \(film)")]) }
    _ = try await fixture.leader.apply(response.build())
    for film in Self.films { titles.append((fixture.leader.position, film, "base \(film)")) }
    let copies = try [fixture.replica(), fixture.replica()]
    folders = copies.map(\.0)
    nodes = [fixture.leader] + copies.map(\.1)
    cursor.position = fixture.leader.position
  }

  private var leader: Store { nodes[0] }

  private var timing: QueueTiming {
    QueueTiming(now: now, policy: QueuePolicy(), boot: "boot", random: { 7 })
  }

  mutating func step() async throws {
    now = now.advanced(by: .milliseconds(10))
    switch number(0...99) {
    case 0..<35: try await submit()
    case 35..<60: try await drain()
    case 60..<75: try await apply(upTo: .max, on: number(1...2), few: percent(50))
    case 75..<90: try await settle()
    default:
      let film = pick(Self.films) ?? "1"
      call += 1
      _ = try await leader.apply(
        ResponseBuilder(call: call).film(film, ["title": .string("base \(call)")]).build())
      titles.append((leader.position, film, "base \(call)"))
      trail.append("upstream has base \(call) of \(film), position \(leader.position)")
    }
  }

  /// A submission is in the inbox when its device gets the 202.
  private mutating func submit() async throws {
    number += Int64(number(1...3))
    let (film, title) = (pick(Self.films) ?? "1", "mine \(number)")
    let arrival = QueueWorld.arrival(
      "\(number)", mode: .steady, object: .film(film),
      overlays: [
        OverlayChange(.merge, .film(film), fields: Array(#"{"title":"\#(title)"}"#.utf8))
      ])
    inbox.append(
      InboxSubmission(number: number, device: Self.device, mutations: [arrival], age: .zero))
    writes.append(
      Write(number: number, id: arrival.submission.id, film: film, title: title))
    cursor.entry = number
    trail.append("entry \(number): \(title) of \(film)")
    // The node that takes it knows it; the others do not.
    let node = number(0...2)
    mirrors[node].append(contentsOf: inbox.suffix(1))
  }

  private mutating func drain() async throws {
    let batch = Array(inbox.prefix(number(1...4)))
    guard !batch.isEmpty else { return }
    _ = try await leader.drain(batch, timing: timing)
    // A leader that ends now leaves the entries to the next one.
    let isKilled = percent(20)
    if !isKilled { inbox.removeFirst(batch.count) }
    trail.append(
      "drained \(batch.map(\.number)), position \(leader.position)\(isKilled ? ", killed" : "")")
  }

  private mutating func apply(upTo position: Int64, on node: Int, few: Bool = false) async throws {
    var rows = fixture.log.rows(after: nodes[node].position).filter { $0.position <= position }
    if few { rows = Array(rows.prefix(1)) }
    guard node > 0, !rows.isEmpty else { return }
    _ = try await nodes[node].apply(rows)
    trail.append("node \(node) is at \(nodes[node].position)")
  }

  private mutating func settle() async throws {
    guard let index = writes.firstIndex(where: { $0.ended == nil }) else { return }
    let ready = QueueSchedule.Ready(
      id: writes[index].id, upstream: "default", place: 0, isForced: false)
    guard
      let claimed = try await leader.claim(ready, of: Self.device, timing: timing).answer
    else { return }
    let isApplied = percent(50)
    let write = writes[index]
    call += 1
    let response = ResponseBuilder(call: call).film(write.film, ["title": .string(write.title)])
    _ = try await leader.settle(
      MutationSettlement(
        claim: claimed.claim, outcome: isApplied ? .applied(created: [:]) : .permanent,
        othersSucceeded: nil, response: isApplied ? response.build() : nil,
        result: Array("{}".utf8)), of: Self.device, timing: timing)
    writes[index].ended = leader.position
    if isApplied { titles.append((leader.position, write.film, write.title)) }
    let end = isApplied ? "applied" : "rejected"
    trail.append("\(write.title) \(end), position \(leader.position)")
  }

  // MARK: Reading

  /// Reads on a random node with the device's cursor; returns what is wrong.
  mutating func faultOfARead() async throws -> String? {
    let node = number(0...2)
    let store = nodes[node]
    try await apply(upTo: cursor.position, on: node)
    let isWithoutLeader = percent(20)
    if isWithoutLeader {
      try await refresh(node)
    } else if try await store.drainedNumber() < cursor.entry {
      try await refresh(node)
    }
    mirrors[node] = try await store.undrained(mirrors[node], of: Self.device)
    store.setProvisional(mirrors[node], of: Self.device, timing: timing)
    shownBeforeDrain += mirrors[node].count
    let position = store.position
    cursor.position = max(cursor.position, position)
    for film in Self.films {
      let pending = writes.filter { $0.film == film && ($0.ended ?? .max) > position }
      let base = titles.last { $0.film == film && $0.position <= position }?.title
      let found = try await shown(film, on: store)
      let place = "node \(node) at \(position), film \(film)"
      if found.title != (pending.last?.title ?? base) {
        let wanted = pending.last?.title ?? base ?? ""
        return "\(place) shows \(found.title ?? "nothing"), not \(wanted)"
      }
      if found.pending != pending.map(\.id.value) {
        return "\(place) has pending \(found.pending), not \(pending.map(\.id.value))"
      }
    }
    let status = try await store.reading.queueStatus(of: Self.device)
    let count = writes.filter { ($0.ended ?? .max) > position }.count
    return status.pending == count
      ? nil : "node \(node) at \(position) counts \(status.pending), not \(count)"
  }

  /// What is not in the inbox any more is in the log.
  private mutating func refresh(_ node: Int) async throws {
    let known = Set(mirrors[node].map(\.number))
    mirrors[node] = (mirrors[node] + inbox.filter { !known.contains($0.number) })
      .sorted { $0.number < $1.number }
    try await apply(upTo: .max, on: node)
  }

  private func shown(
    _ film: String, on store: Store
  ) async throws -> (title: String?, pending: [String]) {
    let record = try #require(
      try await store.reading.entity(.film(film), viewer: Self.viewer))
    let layers = try record.layers.map { try JSONValue(checked: $0) }
    let pending = layers.lazy.compactMap { $0["$pending"]?.array }.first ?? []
    return (
      layers.lazy.compactMap { $0["title"]?.string }.first, pending.compactMap(\.string)
    )
  }
}
