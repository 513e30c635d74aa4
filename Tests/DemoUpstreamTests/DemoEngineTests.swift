import LosslessJSON
import TestSupport
import Testing

@testable import DemoUpstream

struct DemoEngineTests {
  private let call = DemoCall()
  private static let create =
    "mutation($title: String!) { createFilm(input: {title: $title, year: 2000, country: SE}) { id } }"

  @Test("A mutation with an idempotency key takes effect once")
  func aKeyTakesEffectOnce() throws {
    let first = call.answer(Self.create, ["title": "A"], key: "k1")
    let again = call.answer(Self.create, ["title": "A"], key: "k1")
    #expect(first.bytes == again.bytes && !first.isReplay && again.isReplay)
    #expect(try call("{ filmsCount }").at("data", "filmsCount") == 2401)
  }

  @Test("Concurrent mutations with the same key take effect once")
  func concurrentMutationsTakeEffectOnce() async throws {
    let replays = await withTaskGroup { group in
      for _ in 0..<40 {
        group.addTask { call.answer(Self.create, ["title": "A"], key: "k1").isReplay }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(replays == 39)
    #expect(try call("{ filmsCount }").at("data", "filmsCount") == 2401)
  }

  @Test("A key belongs to one request of one caller")
  func aKeyBelongsToOneRequestAndOneCaller() throws {
    _ = call.answer(Self.create, ["title": "A"], key: "k1")
    #expect(call.answer(Self.create, ["title": "B"], key: "k1").outcome == .keyConflict)
    #expect(call.answer(Self.create, ["title": "B"], user: "ada", key: "k1").outcome == .executed)
    #expect(call.answer(Self.create, ["title": "A"]).isReplay == false)
    #expect(try call("{ filmsCount }").at("data", "filmsCount") == 2403)
  }

  @Test("The oldest keys are removed")
  func forgetsTheOldestKeys() {
    var ledger = IdempotencyLedger()
    let answer = DemoResponse(outcome: .executed, bytes: [])
    for number in 0..<25_000 {
      ledger.note(.init(caller: "", key: "\(number)"), fingerprint: "f", response: answer)
    }
    func isKnown(_ number: Int) -> Bool {
      if case .repeated = ledger.look(.init(caller: "", key: "\(number)"), fingerprint: "f") {
        true
      } else {
        false
      }
    }
    #expect(!isKnown(14_999) && isKnown(15_000) && isKnown(24_999))
  }

  @Test("A mutation needs POST")
  func mutationsNeedPost() {
    let answer = call.answer("mutation { deleteFilm(id: \"f1\") }", isSafe: true)
    #expect(answer.outcome == .needsPost)
    #expect(call.answer("{ filmsCount }", isSafe: true).outcome == .executed)
  }

  @Test("Subscriptions are refused")
  func subscriptionsAreRefused() throws {
    let answer = try call("subscription { filmChanged { id } }")
    #expect(answer.errorCode == "SUBSCRIPTION_NOT_SUPPORTED" && answer["data"] == nil)
  }

  @Test("A reset restores the films")
  func resetRestoresFilms() throws {
    _ = call.answer("mutation { deleteFilm(id: \"f1\") }")
    call.engine.reset()
    #expect(try call("{ film(id: \"f1\") { id } }")["data"] == ["film": ["id": "f1"]])
  }

  @Test("A broken field leaves the other fields in the response")
  func brokenFieldKeepsOthers() throws {
    let answer = try JSONValue(
      parsing: call.answer("{ film(id: \"f1\") { id synopsis } }", brokenFields: ["Film.synopsis"])
        .bytes)
    #expect(answer["data"] == ["film": ["id": "f1", "synopsis": nil]])
    #expect(answer.at("errors", 0, "path")?.text == #"["film","synopsis"]"#)
  }
}
