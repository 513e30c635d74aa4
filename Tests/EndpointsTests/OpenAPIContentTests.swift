import Gateway
import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing

@testable import Endpoints

struct OpenAPIContentTests {
  @Test("Examples are read again after a minute, and the tag changes only with them")
  func followsExamples() async throws {
    let now = Mutex(Timestamp(milliseconds: 1_000_000))
    let year = Mutex(1990)
    let reads = Mutex(0)
    let content = OpenAPIContent(
      operations: [], version: "1", clock: WallClock { now.withLock { $0 } },
      source: {
        OpenAPISource(
          template: ["info": [:], "components": ["schemas": [:]], "paths": [:]],
          schemas: OpenAPISchemas(
            components: [JSONMember("FilmEntity", ["type": "object"])],
            entities: ["Film": "FilmEntity"]))
      },
      examples: {
        reads.withLock { $0 += 1 }
        return PublicExamples.Found(
          entities: ["Film": ["year": .number(JSONNumber(year.withLock { $0 }))]])
      })
    let first = try await content.document(isFull: false)
    let value = try JSONValue(parsing: first.bytes)
    #expect(value["components"]?["schemas"]?["FilmEntity"]?["examples"] == [["year": 1990]])
    year.withLock { $0 = 2000 }
    #expect(try await content.document(isFull: false).tag == first.tag)
    #expect(reads.withLock { $0 } == 1)
    now.withLock { $0 = $0.advanced(by: OpenAPIContent.examplesAge) }
    let second = try await content.document(isFull: false)
    #expect(second.tag != first.tag && reads.withLock { $0 } == 2)
    now.withLock { $0 = $0.advanced(by: OpenAPIContent.examplesAge) }
    #expect(try await content.document(isFull: false).tag == second.tag)
    #expect(reads.withLock { $0 } == 3)
  }
}
