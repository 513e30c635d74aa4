import Logging
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Gateway

/// Webhooks as senders see them: admission, order and limits.
struct HookServiceTests {
  private static func credentials(
    id: String? = nil, timestamp: String? = nil, signature: String? = nil, secret: String? = nil
  ) -> HookService.Credentials {
    HookService.Credentials(id: id, timestamp: timestamp, signature: signature, secret: secret)
  }

  @Test("Header fields alone decide what they can, and strangers are counted")
  func headerFieldsDecideFirst() async throws {
    let world = try HookWorld()
    let now = "\(world.clock.clock.now().milliseconds / 1_000)"
    for (name, credentials, code) in [
      ("none", Self.credentials(), .notFound),
      ("none", Self.credentials(secret: HookWorld.secret), .notFound),
      ("hasura", Self.credentials(), .webhookUnauthenticated),
      ("hasura", Self.credentials(secret: "wrong"), .webhookUnauthenticated),
      ("hasura", Self.credentials(secret: HookWorld.secret + "x"), .webhookUnauthenticated),
      ("plain", Self.credentials(secret: HookWorld.secret), .webhookUnauthenticated),
      ("plain", Self.credentials(id: "m", timestamp: now), .webhookUnauthenticated),
      ("plain", Self.credentials(id: "m", timestamp: "1", signature: "v1,AAAA"), .webhookExpired),
    ] as [(String, HookService.Credentials, Failure.Code)] {
      let found = await failure { try world.service.admit(name, credentials) }
      #expect(found?.code == code, "\(name) \(credentials)")
    }
    let counts = world.service.summaries.map { $0.counts.outcomes[.refused] ?? 0 }
    #expect(counts == [3, 3])
    #expect(world.service.summaries.last?.counts.lastRefusal?.code == .webhookExpired)
  }

  @Test(
    "An invalid body leaves its faults for operators and in the log, which a stranger cannot hide")
  func invalidBodiesAreExplained() async throws {
    let world = try HookWorld()
    let body: JSONValue = ["updates": [["__typename": "Item", "id": "1", "nam": "x"]]]
    let found = await failure { try await world.plain(body) }
    #expect(found?.code == .invalidWebhook && found?.details.isEmpty == false)
    for _ in 1...3 { _ = await failure { try world.service.admit("plain", Self.credentials()) } }
    let counts = try #require(world.service.summaries.last?.counts)
    #expect(counts.lastRefusal?.code == .webhookUnauthenticated)
    #expect(counts.lastFault?.code == .invalidWebhook)
    #expect(counts.lastFault?.details == found?.details)
    let lines = world.log.lines
    #expect(lines.map(\.level) == [.warning, .warning], "one for each kind")
    let first = try #require(lines.first)
    #expect(first.metadata["hook"] == "plain" && first.metadata["code"] == "invalid_webhook")
    #expect("\(first.metadata["faults"] ?? "")".contains("nam"), "\(first.text)")
  }

  @Test("A sender that repeats what fails does not fill the log, and what is left out is counted")
  func repeatedFailuresAreLoggedOnceAMinute() async throws {
    let world = try HookWorld()
    let admission = try world.service.admit(
      "hasura", Self.credentials(secret: HookWorld.secret), requestID: "r1")
    for _ in 1...50 { _ = await failure { try await world.service.receive([], admission) } }
    #expect(world.log.lines.count == 1)
    #expect(world.log.lines.first?.metadata["request_id"] == "r1")
    world.clock.advance(by: LogPace.interval)
    _ = await failure { try await world.service.receive([], admission) }
    #expect(world.log.lines.count == 2)
    #expect(world.log.lines.last?.metadata["count"] == .stringConvertible(50))
    #expect(world.service.summaries.first?.counts.lastFault?.requestID == "r1")
  }

  @Test("A forged body is refused, and stores nothing")
  func forgedBodiesAreRefused() async throws {
    let world = try HookWorld()
    let now = "\(world.clock.clock.now().milliseconds / 1_000)"
    let admission = try world.service.admit(
      "plain", Self.credentials(id: "m1", timestamp: now, signature: "v1,AAAA"))
    let body = Array(#"{"updates":[{"__typename":"Item","id":"1","name":"x"}]}"#.utf8)
    let found = await failure { try await world.service.receive(body, admission) }
    #expect(found?.code == .webhookUnauthenticated)
    #expect(try await world.fields("Item", "1") == nil)
  }

  @Test(
    "A body that is not a JSON object is malformed",
    arguments: ["", "{", "[]", "7", #"{"id":1,"id":2}"#])
  func otherBodiesAreMalformed(text: String) async throws {
    let world = try HookWorld()
    let admission = try world.service.admit("hasura", Self.credentials(secret: HookWorld.secret))
    let found = await failure { try await world.service.receive(Array(text.utf8), admission) }
    #expect(found?.code == .malformedRequest)
  }

  @Test("Many messages at once are all stored, each once, and the calls in flight end")
  func manyMessagesAreStored() async throws {
    let world = try HookWorld()
    let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<1_000 {
        group.addTask {
          let outcome = try await world.hasura(
            HookWorld.event(
              "INSERT", id: "e\(number % 500)",
              new: ["item_id": .number(JSONNumber(number % 500)), "name": "x"]))
          if case .applied = outcome { return true }
          return false
        }
      }
      return try await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(outcomes.filter { $0 }.count == 500)
    for number in [0, 123, 499] {
      #expect(try await world.fields("Item", "\(number)")?["name"] == "x")
    }
    let call = world.calls.begin()
    #expect(world.calls.horizon(of: call) == call)
  }

  @Test("Random bodies never bring the service down", arguments: [UInt64(1), 2])
  func randomBodiesAreRefused(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = try HookWorld()
    let event = HookWorld.event("INSERT", new: ["item_id": 1, "name": "x"]).bytes
    for _ in 0..<500 {
      var bytes = event
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      let admission = try world.service.admit("hasura", Self.credentials(secret: HookWorld.secret))
      do {
        _ = try await world.service.receive(bytes, admission)
      } catch {
        #expect(
          [Failure.Code.malformedRequest, .invalidWebhook].contains(error.code),
          "seed \(seed): \(error)")
      }
    }
  }
}
