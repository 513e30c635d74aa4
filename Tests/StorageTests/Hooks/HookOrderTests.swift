import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Messages of webhooks among each other and among upstream's responses, by their times.
struct HookOrderTests {
  @Test("A late message changes nothing: neither an update nor a deletion nor a change back")
  func lateMessagesChangeNothing() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.receive(
      HookDelivery.of("e2", at: 20, films: [("1", ["title": "Second"])]), from: 1)
    var deletion = HookDelivery.of("e0", at: 5)
    deletion.deletions = [.film("1")]
    let late = try await fixture.receive(
      HookDelivery.of("e1", at: 10, films: [("1", ["title": "First"])]), deletion,
      from: 2)
    #expect(late == [HookReceipt.of(outdated: 1), HookReceipt.of(outdated: 1)])
    #expect(try await fixture.title(of: "1") == "Second")
    var gone = HookDelivery.of("e4", at: 40)
    gone.deletions = [.film("1")]
    let last = try await fixture.receive(
      gone, HookDelivery.of("e3", at: 30, films: [("1", ["title": "Third"])]), from: 4)
    #expect(last == [HookReceipt.of(deleted: 1), HookReceipt.of(outdated: 1)])
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
        HookDelivery.of(
          "e\(step)", at: Int64(step), films: [("1", ["title": .string("T\(step)")])])
      }
      if ends {
        var deletion = HookDelivery.of("e7", at: 7)
        deletion.deletions = [.film("1")]
        deliveries.append(deletion)
      }
      deliveries.shuffle(using: &random)
      // Some are sent again.
      deliveries += deliveries.prefix(3)
      var call: Int64 = 0
      for delivery in deliveries {
        call += 1
        _ = try await fixture.receive(delivery, from: call)
      }
      #expect(
        try await fixture.title(of: "1") == (ends ? nil : "T6"), "seed \(seed), round \(round)")
    }
  }

  @Test("Changes of the same moment are applied as they arrive, and the entity is fetched again")
  func changesOfTheSameMomentAreDue() async throws {
    let fixture = try StoreFixture()
    let receipts = try await fixture.receive(
      HookDelivery.of("e1", at: 10, films: [("1", ["title": "A"])]),
      HookDelivery.of("e2", at: 10, films: [("1", ["title": "B"])]), from: 1)
    #expect(receipts == [HookReceipt.of(written: 1), HookReceipt.of(written: 1, disputed: 1)])
    #expect(try await fixture.title(of: "1") == "B")
    // Attempts of the same second say nothing.
    let attempts = try await fixture.receive(
      HookDelivery.of("e3", at: 20, isExact: false, films: [("2", ["title": "A"])]),
      HookDelivery.of("e4", at: 20, isExact: false, films: [("2", ["title": "B"])]), from: 3)
    #expect(attempts == [HookReceipt.of(written: 1), HookReceipt.of(written: 1)])
  }

  @Test("A response that came after the change is not overwritten, and is fetched again")
  func laterResponsesAreNotOverwritten() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: HookDelivery.start + 50)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, received: received).film("1", ["title": "Newer"])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    let same = try await fixture.receive(
      HookDelivery.of("e0", at: 30, films: [("1", ["title": "Newer"])]), from: 2)
    #expect(same == [HookReceipt.of(written: 1)])
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    func isDue() async throws -> Bool? {
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
    }
    #expect(try await isDue() == false)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3, received: received).film("1", ["title": "Newest"]).build())
    let older = try await fixture.receive(
      HookDelivery.of("e1", at: 40, films: [("1", ["title": "Older"])]), from: 4)
    #expect(older == [HookReceipt.of(disputed: 1)])
    #expect(try await fixture.title(of: "1") == "Newest")
    #expect(try await isDue() == true)
    let newer = try await fixture.receive(
      HookDelivery.of("e2", at: 60, films: [("1", ["title": "Pushed"])]), from: 5)
    #expect(newer == [HookReceipt.of(written: 1)])
    #expect(try await fixture.title(of: "1") == "Pushed")
  }

  @Test("An attempt before the second of a later response is older, one of the same second is not")
  func attemptsHaveWholeSeconds() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: HookDelivery.start + 5_400)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, received: received).film("1", ["title": "Fetched"]).build())
    for (at, title, receipt) in [
      (Int64(4_000), "Older", HookReceipt.of(disputed: 1)),
      (5_000, "Newer", HookReceipt.of(written: 1)),
    ] {
      let delivery = HookDelivery.of(
        "e\(at)", at: at, isExact: false, films: [("1", ["title": .string(title)])])
      #expect(try await fixture.receive(delivery, from: at) == [receipt])
      #expect(try await fixture.title(of: "1") == (title == "Newer" ? "Newer" : "Fetched"))
    }
  }

  @Test("A deletion older than a response deletes, and what showed the entity is fetched again")
  func lateDeletionsAreChecked() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: HookDelivery.start + 50)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, received: received).film("1", ["title": "Again"])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    var deletion = HookDelivery.of("e1", at: 30)
    deletion.deletions = [.film("1")]
    #expect(
      try await fixture.receive(deletion, from: 2)
        == [HookReceipt.of(deleted: 1, disputed: 1)])
    #expect(try await fixture.title(of: "1") == nil)
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    #expect(
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
        == true)
  }

  @Test("A time far ahead of the arrival counts as the arrival, and delays nothing that follows")
  func timesAheadAreTheArrival() async throws {
    let fixture = try StoreFixture()
    let ahead = HookDelivery.of(
      "e1", at: 9_000_000_000, received: 1_000, films: [("1", ["title": "A"])])
    let next = HookDelivery.of("e2", at: 2_000, received: 2_000, films: [("1", ["title": "B"])])
    let receipts = try await fixture.receive(ahead, next, from: 1)
    #expect(receipts == [HookReceipt.of(written: 1), HookReceipt.of(written: 1)])
    #expect(try await fixture.title(of: "1") == "B")
  }

  @Test("No number of late messages replaces the values of a response that came after them")
  func lateMessagesNeverReplaceResponses() async throws {
    let fixture = try StoreFixture()
    let received = Timestamp(milliseconds: HookDelivery.start + 50)
    func respond(_ call: Int64) async throws {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call, received: received).film("1", ["title": "V4"]).build())
    }
    try await respond(1)
    for (index, title) in ["V1", "V2", "V4", "V3"].enumerated() {
      let call = Int64(index * 2 + 2)
      let delivery = HookDelivery.of(
        "e\(index)", at: Int64(index + 1) * 10, films: [("1", ["title": .string(title)])])
      let isSame = title == "V4"
      #expect(
        try await fixture.receive(delivery, from: call)
          == [isSame ? HookReceipt.of(written: 1) : HookReceipt.of(disputed: 1)], "\(title)")
      #expect(try await fixture.title(of: "1") == "V4", "\(title)")
      try await respond(call + 1)
    }
    let next = HookDelivery.of("next", at: 60, films: [("1", ["title": "V5"])])
    #expect(
      try await fixture.receive(next, from: 20) == [HookReceipt.of(written: 1)])
    #expect(try await fixture.title(of: "1") == "V5")
  }
}
