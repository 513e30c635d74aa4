import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Messages of webhooks among upstream's responses.
struct HookTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let user = Scope.user("u")
  private static let userViewer = Viewer(layers: [user, .public])

  /// - Parameter at: milliseconds after the start; nil without a moment.
  private static func delivery(
    _ event: String, at: Int64? = nil, isExact: Bool = true, received: Int64 = 60_000,
    films: [(id: String, JSONValue)] = [], hook: String = "films"
  ) -> HookDelivery {
    var delivery = HookDelivery(
      hook: hook, event: event,
      moment: at.map {
        HookDelivery.Moment(microseconds: (start + $0) * 1_000, isExact: isExact)
      }, received: Timestamp(milliseconds: start + received))
    for (id, value) in films {
      var fields: [NormalisedResponse.Field] = []
      for member in [JSONMember("id", .string(id))] + (value.members ?? []) {
        let from = delivery.bytes.count
        delivery.bytes += member.value.bytes
        fields.append(
          .init(name: member.name, range: from..<delivery.bytes.count, merges: false))
      }
      delivery.entities.append(.init(key: .film(id), fields: fields))
    }
    return delivery
  }

  private static func receive(
    _ store: Store, _ deliveries: HookDelivery..., from call: Int64, horizon: Int64? = nil,
    retention: HookRetention = HookRetention()
  ) async throws -> [HookReceipt] {
    try await store.receive(
      deliveries.enumerated().map {
        let number = call + Int64($0)
        return ($1, CallNumber(number), CallNumber(horizon ?? number))
      }, now: deliveries.last?.received ?? Timestamp(milliseconds: start), retention: retention)
  }

  private static func receipt(
    written: Int = 0, deleted: Int = 0, outdated: Int = 0, disputed: Int = 0
  ) -> HookReceipt {
    var receipt = HookReceipt()
    receipt.written = written
    receipt.deleted = deleted
    receipt.outdated = outdated
    receipt.disputed = disputed
    return receipt
  }

  private static func repeated() -> HookReceipt {
    var receipt = HookReceipt()
    receipt.isRepeated = true
    return receipt
  }

  @Test("A message is stored once, also after a restart")
  func aMessageIsStoredOnce() async throws {
    let folder = TemporaryFolder()
    var fixture = try StoreFixture(folder)
    let first = Self.delivery("e1", films: [("1", ["title": "A"])])
    #expect(try await Self.receive(fixture.store, first, from: 1) == [Self.receipt(written: 1)])
    let other = Self.delivery("e1", films: [("1", ["title": "B"])])
    #expect(try await Self.receive(fixture.store, other, from: 2) == [Self.repeated()])
    fixture.store.close()
    fixture = try StoreFixture(folder, segment: 2)
    #expect(try await Self.receive(fixture.store, other, from: 3) == [Self.repeated()])
    #expect(try await fixture.title(of: "1") == "A")
    let ofOther = Self.delivery("e1", films: [("1", ["title": "C"])], hook: "shop")
    #expect(try await Self.receive(fixture.store, ofOther, from: 4) == [Self.receipt(written: 1)])
    #expect(try await fixture.title(of: "1") == "C")
    #expect(try await fixture.store.hookEventCounts() == ["films": 1, "shop": 1])
  }

  @Test("Messages of one transaction are applied in their order")
  func messagesOfATransactionAreInOrder() async throws {
    let fixture = try StoreFixture()
    var deletion = Self.delivery("e2")
    deletion.deletions = [.film("1")]
    let receipts = try await Self.receive(
      fixture.store, Self.delivery("e1", films: [("1", ["title": "A"])]), deletion,
      Self.delivery("e3", films: [("2", ["title": "B"])]), Self.delivery("e1"), from: 1)
    #expect(
      receipts == [
        Self.receipt(written: 1), Self.receipt(deleted: 1), Self.receipt(written: 1),
        Self.repeated(),
      ])
    #expect(try await fixture.title(of: "1") == nil)
    #expect(try await fixture.store.entity(.film("1"), viewer: .anonymous)?.isDeleted == true)
    #expect(try await fixture.title(of: "2") == "B")
  }

  @Test("A call in flight does not undo a message, a later one replaces it")
  func callOrderHolds() async throws {
    let fixture = try StoreFixture()
    _ = try await Self.receive(
      fixture.store, Self.delivery("e1", films: [("1", ["title": "Pushed"])]), from: 3, horizon: 2)
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).film("1", ["title": "Old"]).build())
    #expect(try await fixture.title(of: "1") == "Pushed")
    _ = try await fixture.store.apply(ResponseBuilder(call: 4).film("1", ["title": "New"]).build())
    #expect(try await fixture.title(of: "1") == "New")
  }

  // MARK: Order

  @Test("A late message changes nothing: neither an update nor a deletion nor a change back")
  func lateMessagesChangeNothing() async throws {
    let fixture = try StoreFixture()
    _ = try await Self.receive(
      fixture.store, Self.delivery("e2", at: 20, films: [("1", ["title": "Second"])]), from: 1)
    var deletion = Self.delivery("e0", at: 5)
    deletion.deletions = [.film("1")]
    let late = try await Self.receive(
      fixture.store, Self.delivery("e1", at: 10, films: [("1", ["title": "First"])]), deletion,
      from: 2)
    #expect(late == [Self.receipt(outdated: 1), Self.receipt(outdated: 1)])
    #expect(try await fixture.title(of: "1") == "Second")
    var gone = Self.delivery("e4", at: 40)
    gone.deletions = [.film("1")]
    let last = try await Self.receive(
      fixture.store, gone, Self.delivery("e3", at: 30, films: [("1", ["title": "Third"])]), from: 4)
    #expect(last == [Self.receipt(deleted: 1), Self.receipt(outdated: 1)])
    #expect(try await fixture.title(of: "1") == nil)
  }

  @Test(
    "Every order of arrival ends in the state of the last change", arguments: [UInt64(1), 2, 3])
  func everyOrderOfArrivalEndsAlike(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    for round in 0..<10 {
      let fixture = try StoreFixture()
      let ends = Bool.random(using: &random)
      var deliveries = (1...6).map { step -> HookDelivery in
        Self.delivery(
          "e\(step)", at: Int64(step), films: [("1", ["title": .string("T\(step)")])])
      }
      if ends {
        var deletion = Self.delivery("e7", at: 7)
        deletion.deletions = [.film("1")]
        deliveries.append(deletion)
      }
      deliveries.shuffle(using: &random)
      // Some are sent again.
      deliveries += deliveries.prefix(3)
      var call: Int64 = 0
      for delivery in deliveries {
        call += 1
        _ = try await Self.receive(fixture.store, delivery, from: call)
      }
      #expect(
        try await fixture.title(of: "1") == (ends ? nil : "T6"), "seed \(seed), round \(round)")
    }
  }

  @Test("Changes of the same moment are applied as they arrive, and the entity is fetched again")
  func changesOfTheSameMomentAreDue() async throws {
    let fixture = try StoreFixture()
    let receipts = try await Self.receive(
      fixture.store, Self.delivery("e1", at: 10, films: [("1", ["title": "A"])]),
      Self.delivery("e2", at: 10, films: [("1", ["title": "B"])]), from: 1)
    #expect(receipts == [Self.receipt(written: 1), Self.receipt(written: 1, disputed: 1)])
    #expect(try await fixture.title(of: "1") == "B")
    // Attempts of the same second say nothing.
    let attempts = try await Self.receive(
      fixture.store, Self.delivery("e3", at: 20, isExact: false, films: [("2", ["title": "A"])]),
      Self.delivery("e4", at: 20, isExact: false, films: [("2", ["title": "B"])]), from: 3)
    #expect(attempts == [Self.receipt(written: 1), Self.receipt(written: 1)])
  }

  @Test("A response that came after the change is not overwritten, and is fetched again")
  func laterResponsesAreNotOverwritten() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: Self.start + 50)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, received: received).film("1", ["title": "Newer"])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    let same = try await Self.receive(
      fixture.store, Self.delivery("e0", at: 30, films: [("1", ["title": "Newer"])]), from: 2)
    #expect(same == [Self.receipt(written: 1)])
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    func isDue() async throws -> Bool? {
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
    }
    #expect(try await isDue() == false)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3, received: received).film("1", ["title": "Newest"]).build())
    let older = try await Self.receive(
      fixture.store, Self.delivery("e1", at: 40, films: [("1", ["title": "Older"])]), from: 4)
    #expect(older == [Self.receipt(disputed: 1)])
    #expect(try await fixture.title(of: "1") == "Newest")
    #expect(try await isDue() == true)
    let newer = try await Self.receive(
      fixture.store, Self.delivery("e2", at: 60, films: [("1", ["title": "Pushed"])]), from: 5)
    #expect(newer == [Self.receipt(written: 1)])
    #expect(try await fixture.title(of: "1") == "Pushed")
  }

  @Test("An attempt before the second of a later response is older, one of the same second is not")
  func attemptsHaveWholeSeconds() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: Self.start + 5_400)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, received: received).film("1", ["title": "Fetched"]).build())
    for (at, title, receipt) in [
      (Int64(4_000), "Older", Self.receipt(disputed: 1)),
      (5_000, "Newer", Self.receipt(written: 1)),
    ] {
      let delivery = Self.delivery(
        "e\(at)", at: at, isExact: false, films: [("1", ["title": .string(title)])])
      #expect(try await Self.receive(fixture.store, delivery, from: at) == [receipt])
      #expect(try await fixture.title(of: "1") == (title == "Newer" ? "Newer" : "Fetched"))
    }
  }

  @Test("A deletion older than a response deletes, and what showed the entity is fetched again")
  func lateDeletionsAreChecked() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: Self.start + 50)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, received: received).film("1", ["title": "Again"])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    var deletion = Self.delivery("e1", at: 30)
    deletion.deletions = [.film("1")]
    #expect(
      try await Self.receive(fixture.store, deletion, from: 2)
        == [Self.receipt(deleted: 1, disputed: 1)])
    #expect(try await fixture.title(of: "1") == nil)
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    #expect(
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
        == true)
  }

  @Test("A time far ahead of the arrival counts as the arrival, and delays nothing that follows")
  func timesAheadAreTheArrival() async throws {
    let fixture = try StoreFixture()
    let ahead = Self.delivery(
      "e1", at: 9_000_000_000, received: 1_000, films: [("1", ["title": "A"])])
    let next = Self.delivery("e2", at: 2_000, received: 2_000, films: [("1", ["title": "B"])])
    let receipts = try await Self.receive(fixture.store, ahead, next, from: 1)
    #expect(receipts == [Self.receipt(written: 1), Self.receipt(written: 1)])
    #expect(try await fixture.title(of: "1") == "B")
  }

  @Test("No number of late messages replaces the values of a response that came after them")
  func lateMessagesNeverReplaceResponses() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: Self.start + 50)
    func respond(_ call: Int64) async throws {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call, received: received).film("1", ["title": "V4"]).build())
    }
    try await respond(1)
    for (index, title) in ["V1", "V2", "V4", "V3"].enumerated() {
      let call = Int64(index * 2 + 2)
      let delivery = Self.delivery(
        "e\(index)", at: Int64(index + 1) * 10, films: [("1", ["title": .string(title)])])
      let isSame = title == "V4"
      #expect(
        try await Self.receive(fixture.store, delivery, from: call)
          == [isSame ? Self.receipt(written: 1) : Self.receipt(disputed: 1)], "\(title)")
      #expect(try await fixture.title(of: "1") == "V4", "\(title)")
      try await respond(call + 1)
    }
    let next = Self.delivery("next", at: 60, films: [("1", ["title": "V5"])])
    #expect(
      try await Self.receive(fixture.store, next, from: 20) == [Self.receipt(written: 1)])
    #expect(try await fixture.title(of: "1") == "V5")
  }

  // MARK: Other copies

  @Test("Users' copies become due, and so does a user's response that is still on its way")
  func usersCopiesBecomeDue() async throws {
    let fixture = try StoreFixture()
    let key = ResultKey(operation: "Mine", variables: "{}", scope: Self.user)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: Self.user).film("1", ["title": "Mine"])
        .result("Mine", root: ["films": [.reference(.film("1"))]]).build())
    func isDue() async throws -> Bool? {
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: Self.userViewer)?
        .isDue
    }
    #expect(try await isDue() == false)
    // Call 2 is on its way.
    _ = try await Self.receive(
      fixture.store, Self.delivery("e1", films: [("1", ["title": "Pushed"])]), from: 3, horizon: 2)
    #expect(try await isDue() == true)
    #expect(try await fixture.title(of: "1", viewer: Self.userViewer) == "Mine")
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, horizon: 2, scope: Self.user).film("1", ["title": "Old"])
        .result("Mine", root: ["films": [.reference(.film("1"))]]).build())
    #expect(try await isDue() == true)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, scope: Self.user).film("1", ["title": "Mine again"])
        .result("Mine", root: ["films": [.reference(.film("1"))]]).build())
    #expect(try await isDue() == false)
  }

  @Test("A change of which nothing is public makes copies due and adds no public row")
  func privateChangesAddNoRow() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: Self.user).film("1", ["title": "Mine"]).build())
    var change = Self.delivery("e1", at: 1)
    change.changed = [.film("1"), .film("2")]
    #expect(try await Self.receive(fixture.store, change, from: 2) == [Self.receipt(disputed: 2)])
    #expect(try await fixture.store.entity(.film("1"), viewer: .anonymous) == nil)
    #expect(try await fixture.store.entity(.film("2"), viewer: .anonymous) == nil)
  }

  @Test("A public copy with a field that is not stored from messages is fetched again")
  func withheldFieldsMakeTheCopyDue() async throws {
    let fixture = try StoreFixture()
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A"]).film("2", ["title": "B", "seen": false])
        .result("Films", root: ["films": [.reference(.film("1")), .reference(.film("2"))]]).build())
    func isDue() async throws -> Bool? {
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
    }
    var first = Self.delivery("e1", films: [("1", ["title": "C"])])
    first.withheld = [.film("1"): ["seen"]]
    #expect(try await Self.receive(fixture.store, first, from: 2) == [Self.receipt(written: 1)])
    #expect(try await isDue() == false)
    var second = Self.delivery("e2", films: [("2", ["title": "D"])])
    second.withheld = [.film("2"): ["seen"]]
    #expect(
      try await Self.receive(fixture.store, second, from: 3)
        == [Self.receipt(written: 1, disputed: 1)])
    #expect(try await isDue() == true)
  }

  @Test("A deletion reaches every copy; one that is not public leaves no public trace")
  func deletionsReachEveryCopy() async throws {
    let fixture = try StoreFixture()
    let german = Scope(kind: .public, subject: "", partition: "accept-language:de\n")
    for (call, scope) in zip(Int64(1)..., [.public, Self.user, german]) {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call, scope: scope).film("1", ["title": "A"]).build())
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, scope: Self.user).film("2", ["title": "Secret"]).build())
    var deletion = Self.delivery("e1")
    deletion.deletions = [.film("1")]
    deletion.privateDeletions = [.film("2")]
    #expect(try await Self.receive(fixture.store, deletion, from: 5) == [Self.receipt(deleted: 2)])
    #expect(try await fixture.title(of: "1") == nil)
    #expect(try await fixture.title(of: "1", viewer: Self.userViewer) == nil)
    #expect(try await fixture.title(of: "1", viewer: Viewer(layers: [german, .public])) == nil)
    #expect(try await fixture.title(of: "2", viewer: Self.userViewer) == nil)
    #expect(try await fixture.store.entity(.film("2"), viewer: .anonymous) == nil)
  }

  @Test("Very many copies become due by their type")
  func manyCopiesBecomeDue() async throws {
    let fixture = try StoreFixture()
    let ids = (0...4_096).map { "\($0)" }
    var response = ResponseBuilder(call: 1, scope: Self.user)
      .result("Mine", root: ["films": [.reference(.film("4096"))]])
    for id in ids { response = response.film(id, ["title": "Mine"]) }
    _ = try await fixture.store.apply(response.build())
    _ = try await Self.receive(
      fixture.store, Self.delivery("e1", films: ids.map { ($0, ["title": "Pushed"]) }), from: 2)
    let result = try await fixture.store.result(
      ResultKey(operation: "Mine", variables: "{}", scope: Self.user),
      selection: .filmsWithDirectors, viewer: Self.userViewer)
    #expect(result?.isDue == true)
  }

  @Test("Operations, tags and types become due in every scope")
  func targetsBecomeDueInEveryScope() async throws {
    for target in [InvalidationTarget.operation("Mine"), .tag("home"), .type("Film")] {
      let fixture = try StoreFixture()
      let key = ResultKey(operation: "Mine", variables: "{}", scope: Self.user)
      _ = try await fixture.store.apply(
        ResponseBuilder(call: 1, scope: Self.user)
          .result("Mine", root: ["films": []], tags: ["home"]).build())
      var change = Self.delivery("e1")
      change.invalidations = [target]
      _ = try await Self.receive(fixture.store, change, from: 2)
      let result = try await fixture.store.result(
        key, selection: .filmsWithDirectors, viewer: Self.userViewer)
      #expect(result?.isDue == true, "\(target)")
    }
  }

  // MARK: Limits

  @Test("Ids are kept for as long as they can be replayed, and no more than a limit after that")
  func idsAreBounded() async throws {
    let fixture = try StoreFixture()
    var retention = HookRetention()
    retention.rows = 10
    retention.rowsMax = 100
    var call: Int64 = 0
    func receive(_ numbers: Range<Int>, at received: Int64) async throws {
      for number in numbers {
        call += 1
        _ = try await Self.receive(
          fixture.store,
          Self.delivery(
            "e\(number)", at: Int64(number), received: received,
            films: [("\(number)", ["title": "A"])]),
          from: call, retention: retention)
      }
    }
    try await receive(0..<80, at: 0)
    #expect(try await fixture.count("hook_event") == 80)
    #expect(try await fixture.count("hook_moment") == 10)
    try await receive(80..<150, at: 599_000)
    #expect(try await fixture.count("hook_event") == 100)
    try await receive(150..<160, at: 601_000)
    #expect(try #require(try await fixture.count("hook_event")) < 100)
    try await receive(160..<300, at: 2_000_000)
    #expect(try #require(try await fixture.count("hook_event")) <= 140)
    try await receive(300..<310, at: 8 * 86_400_000)
    #expect(try #require(try await fixture.count("hook_event")) < 140)
    // One that was removed is taken again.
    let again = try await Self.receive(
      fixture.store, Self.delivery("e0", received: 8 * 86_400_000), from: call + 1)
    #expect(again == [HookReceipt()])
  }

  @Test("A message that cannot be stored leaves nothing of its transaction")
  func failuresLeaveNothing() async throws {
    let fixture = try StoreFixture()
    var unknown = Self.delivery("e2")
    unknown.deletions = [EntityKey(type: "Nobody", key: "1")]
    await #expect(throws: StorageError.self) {
      _ = try await Self.receive(
        fixture.store, Self.delivery("e1", films: [("1", ["title": "A"])]), unknown, from: 1)
    }
    #expect(try await fixture.title(of: "1") == nil)
    let again = try await Self.receive(
      fixture.store, Self.delivery("e1", films: [("1", ["title": "A"])]), from: 3)
    #expect(again == [Self.receipt(written: 1)])
  }
}
