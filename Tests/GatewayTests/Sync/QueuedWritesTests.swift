import Filtering
import LosslessJSON
import Model
import Storage
import SyncScheduler
import Testing

@testable import Gateway

/// Lists of local writes in the queue of a real store, applied by hand.
struct QueuedWritesTests {
  private static let temporary = "~0190163d-8694-7999-8f5e-3f4a3b2c1d0e"
  private static let device = "d_1"
  private static let trip = LocalType(
    name: "Trip", scope: .device,
    fields: [
      LocalField(name: "id", kind: .scalar(.id), nonNull: [true]),
      LocalField(name: "title", kind: .scalar(.string), nonNull: [true]),
    ])

  /// A local type that refers to another one and to an upstream type.
  private static let day = LocalType(
    name: "Day", scope: .device,
    fields: [LocalField(name: "id", kind: .scalar(.id), nonNull: [true])])

  private let folder: StoreFolder
  private let clock = TestClock()
  private let writes: QueuedWrites

  init() throws {
    folder = try StoreFolder(types: [Self.trip.entityType])
    let schema = LocalSchema(
      types: ["Trip": Self.trip, "Day": Self.day], objects: [:], enums: [:])
    let country = EntityType(
      name: "Country", keyFields: ["id"],
      columns: [EntityType.Column(name: "name", kind: .text)])
    let graph = EntityGraph(
      types: [Self.trip.entityType, Self.day.entityType, country],
      relationships: ["Day": ["trip": .toOne("Trip"), "country": .toOne("Country")]])
    writes = QueuedWrites(
      own: OwnDataWrites(
        schema: schema, store: folder.store,
        entities: EntityRenderer(
          types: [Self.trip.entityType], shapes: ["Trip": Self.trip.shape]),
        identifiers: IdentifierMaker(
          clock: clock.clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) }),
        clock: clock.clock, deadline: QueryDeadline(limit: .seconds(20)) { .zero },
        quota: .unlimited,
        reach: FilterReach(
          graph: graph, local: schema, gate: StoredDataGate(hasServiceCredentials: false))))
  }

  private var caller: Caller {
    Caller(device: Caller.Device(id: Self.device, tokenDigest: "digest"))
  }

  private var timing: QueueTiming {
    QueueTiming(now: clock.clock.now(), policy: QueuePolicy(), boot: "boot", random: { 1 })
  }

  /// Enqueues a list and claims it.
  private func claim(_ operations: String) async throws -> ClaimedMutation {
    let id = "m_1"
    let store = folder.store
    let now = clock.clock.now()
    try await store.register(
      Device(id: Self.device, platform: "ios", registered: now, lastUsed: now),
      tokenDigest: "digest")
    let write = try JSONValue(parsing: Array(operations.utf8))
    var faults: [Failure.Detail] = []
    let fingerprint = try #require(PayloadFingerprint([UInt8](repeating: 1, count: 32)))
    let new = try writes.newMutation(
      MutationRequest(operation: nil, mode: .steady, variables: nil, canonicalBytes: []), write,
      id: MutationID(id), key: id, references: [], fingerprint: fingerprint, caller: caller,
      device: Self.device, &faults)
    #expect(faults == [])
    let arrival = try #require(new)
    _ = try await store.enqueue([arrival], of: Self.device, timing: timing).get()
    let ready = QueueSchedule.Ready(
      id: MutationID(id), upstream: Mutation.writeUpstream, place: 0, isForced: false)
    return try #require(
      try await store.claim(ready, of: Self.device, timing: timing).answer)
  }

  @Test("A list that a crash left in flight is applied again without effect, and finds its ids")
  func secondAttemptWritesNothing() async throws {
    let claimed = try await claim(
      """
      [{"op":"insert","type":"Trip","id":"\(Self.temporary)","data":{"title":"Rome"}},
       {"op":"insert","type":"Trip","data":{"title":"Oslo"}}]
      """)
    let first = await writes.attempt(claimed)
    guard case .applied(let created) = first.outcome else {
      Issue.record("\(first.outcome)")
      return
    }
    let temporary = try #require(TemporaryID(Self.temporary))
    let key = try #require(created[temporary])
    #expect(key.type == "Trip" && TemporaryID(key.key) == nil)
    let head = folder.store.head
    let second = await writes.attempt(claimed)
    #expect(second.outcome == first.outcome && second.result == first.result)
    #expect(folder.store.head == head)
    let result = try JSONValue(parsing: try #require(first.result))
    #expect(result["items"]?[0]?["id"]?.string == key.key)
    #expect(result["items"]?.array?.count == 2)
  }

  @Test("A list that cannot be applied is rejected with its fault, and writes nothing")
  func rejectedListWritesNothing() async throws {
    let insert = #"{"op":"insert","type":"Trip","id":"t1","data":{"title":"Rome"}}"#
    let claimed = try await claim(
      #"[{"op":"insert","type":"Trip","data":{"title":"Oslo"}},\#(insert)]"#)
    // The same row is written by a direct request before the list's turn.
    let direct = EntityWriteList.read([try JSONValue(parsing: Array(insert.utf8))])
    _ = try await writes.own.write(direct.requests, misread: direct.faults, by: caller)
    let head = folder.store.head
    let second = await writes.attempt(claimed)
    #expect(second.outcome == .permanent)
    let problem = try JSONValue(parsing: try #require(second.result))
    #expect(problem["code"] == "entity_exists")
    #expect(problem["detail"]?.string?.contains("Trip/t1 already exists") == true, "\(problem)")
    #expect(folder.store.head == head)
  }

  @Test("A list whose filters reach upstream's types is stored with its submitter's view")
  func keepsWhatTheSubmitterSaw() throws {
    let fingerprint = try #require(PayloadFingerprint([UInt8](repeating: 1, count: 32)))
    func viewer(_ filter: String) throws -> Viewer? {
      var faults: [Failure.Detail] = []
      let new = try writes.newMutation(
        MutationRequest(operation: nil, mode: .steady, variables: nil, canonicalBytes: []),
        [["op": "delete", "type": "Day", "filter": .string(filter)]], id: MutationID("m_2"),
        key: "m_2", references: [], fingerprint: fingerprint, caller: caller,
        device: Self.device, &faults)
      #expect(faults == [])
      let payload = try JSONValue(checked: try #require(new).payload.variables)
      #expect(payload["write"]?.array?.count == 1)
      return try payload["viewer"].map { try #require(ViewerCodec.decode($0)) }
    }
    #expect(try viewer("trip.title = 'Rome'") == nil)
    for filter in ["country.name = 'Italy'", "trip.title = 'Rome' OR country.name IS MISSING"] {
      #expect(try viewer(filter) == caller.viewer)
    }
  }

  @Test("The scopes that a submitter saw are read as they were stored, and other texts as unknown")
  func viewersAreStored() throws {
    let claim = Claim(name: "team", issuer: "i", value: "\"a\"")
    let layers: [Scope] = [
      .ownData(ofDevice: "d_1"), .ownData(ofUser: "u"), .user("digest", partition: "x-lang:de"),
      .claim(claim, partition: "x-lang:de"), .role(.user), .public,
    ]
    let viewer = Viewer(layers: layers)
    let stored = try JSONValue(parsing: ViewerCodec.encode(viewer).bytes)
    #expect(ViewerCodec.decode(stored) == viewer)
    for damaged in ["{}", "[[9,\"\",\"\"]]", "[[0]]", "[null]"] {
      #expect(ViewerCodec.decode(try JSONValue(parsing: Array(damaged.utf8))) == nil)
    }
  }

  @Test("The footprint has what a list writes, refers to, mentions and makes")
  func footprintIsWhole() async throws {
    let claimed = try await claim(
      """
      [{"op":"insert","type":"Trip","id":"\(Self.temporary)","data":{"title":"Rome"}},
       {"op":"updateOrInsert","type":"Trip","id":"t2","data":{"title":"Oslo"}},
       {"op":"insert","type":"Trip","data":{"title":"Bonn"}}]
      """)
    let footprint = claimed.mutation.footprint
    let temporary = try #require(TemporaryID(Self.temporary))
    #expect(footprint.isCreating(temporary) && footprint.needs == [])
    #expect(
      footprint.conflicts(
        with: Footprint(object: EntityKey(type: "Trip", key: "t2"))))
    #expect(footprint.tokens.count == 2)
    #expect(claimed.mutation.isLocalWrite && claimed.mutation.effect == .create)
  }
}
