import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A property: after any writes, every diff of a collection turns the client's list into the current one,
  /// by the rules of a batch update.
  struct CollectionDiffPropertyTests {
    private static let steps = 40
    private static let page = "order=rank,text&limit=25"

    @Test(
      "Every diff, applied to the client's list, gives the current page",
      arguments: [11, 12, 13] as [UInt64])
    func everyDiffAppliedGivesTheNewPage(seed: UInt64) async throws {
      let file = FileManager.default.temporaryDirectory
        .appending(path: "larder-diffs-\(UUID().uuidString).graphql")
      try Data("type Note @local { id: ID! text: String rank: Int }".utf8).write(to: file)
      let larder = try await RunningLarder.start(settings: "local: \(file.path)")
      let token = ("Device-Token", try await DeviceTests.register(larder).token)
      var random = SeededGenerator(seed: seed)
      var copy = ListCopy()
      var present: Set<Int> = []
      var diffs = 0
      for step in 0..<Self.steps {
        let written = try await larder.request(
          "POST", "/v1/entities", headers: [token],
          body: String(decoding: Self.writes(step, &present, &random).bytes, as: UTF8.self))
        #expect(written.status == 200, "\(written.text), seed \(seed)")
        let answer: RawResponse
        if step % 3 == 2 {
          answer = try await larder.request(
            "POST", "/v1/entities/Note/diff?\(Self.page)", headers: [token],
            body: String(decoding: copy.have.bytes, as: UTF8.self))
        } else {
          let tag = copy.tag.map { "&from=%22\($0.dropFirst().dropLast())%22" } ?? ""
          answer = try await larder.get("/v1/entities/Note/diff?\(Self.page)\(tag)", token)
        }
        if answer.status != 304 {
          let body = try JSONValue(parsing: answer.body)
          if body["kind"] == "diff" { diffs += 1 }
          #expect(throws: Never.self, "seed \(seed), step \(step): \(answer.text)") {
            try copy.apply(body)
          }
        }
        let plain = try await larder.get("/v1/entities/Note?\(Self.page)", token)
        let items = try JSONValue(parsing: plain.body)["items"]?.array
        #expect(copy.items == items, "seed \(seed), step \(step)")
        #expect(copy.tag == plain["etag"], "seed \(seed), step \(step)")
      }
      #expect(diffs > 5, "seed \(seed) proves nothing")
      await larder.stop()
      try FileManager.default.removeItem(at: file)
    }

    /// Draws the writes of a batch, each of another entity.
    private static func writes(
      _ step: Int, _ present: inout Set<Int>, _ random: inout SeededGenerator
    ) -> JSONValue {
      let count = step == 0 ? 30 : Int.random(in: 1...4, using: &random)
      let ids = (0..<40).shuffled(using: &random).prefix(count)
      return .array(
        ids.map { id in
          if Int.random(in: 0..<4, using: &random) == 0, present.remove(id) != nil {
            return ["op": "delete", "type": "Note", "id": .string("n\(id)")]
          }
          present.insert(id)
          let rank = Int64.random(in: 0..<12, using: &random)
          let filler = String(repeating: "text ", count: 20)
          return [
            "op": "insertOrUpdate", "type": "Note", "id": .string("n\(id)"),
            "data": [
              "rank": .number(JSONNumber(rank)),
              "text": .string("\(filler)\(Int.random(in: 0..<3, using: &random))"),
            ],
          ]
        })
    }
  }
}
