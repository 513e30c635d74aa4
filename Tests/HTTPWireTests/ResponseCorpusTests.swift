import HTTPWire
import TestSupport
import Testing

/// Every raw response case through the client's state, however it is cut.
struct ResponseCorpusTests {
  @Test("The corpus of responses is loaded")
  func corpusIsLoaded() {
    #expect(WireFixtures.responses.count == 60)
  }

  @Test(
    "Each raw response has its expected outcome",
    arguments: WireFixtures.responses)
  func meetsItsExpectation(_ test: ResponseCase) throws {
    judge(test, try run(test, cuts: []))
  }

  @Test(
    "Each raw response has its expected outcome when received byte by byte",
    arguments: WireFixtures.responses)
  func meetsItsExpectationByteByByte(_ test: ResponseCase) throws {
    judge(test, try run(test, cuts: Array(1..<max(test.bytes.count, 1))))
  }

  @Test(
    "The outcome of a response does not depend on how it is split",
    arguments: [0x61, 0x62, 0x63])
  func doesNotDependOnSplits(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for test in WireFixtures.responses where test.bytes.count > 1 {
      let cuts = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Int.random(in: 1..<test.bytes.count, using: &random)
      }
      let whole = try run(test, cuts: [])
      let pieces = try run(test, cuts: cuts.sorted())
      #expect(whole.error == pieces.error, "\(test.id), seed \(seed), cuts \(cuts)")
      #expect(whole.body == pieces.body, "\(test.id), seed \(seed), cuts \(cuts)")
    }
  }

  private func run(_ test: ResponseCase, cuts: [Int]) throws -> ClientSimulation {
    var client = ClientSimulation(method: try #require(RequestMethod(name: test.method)))
    let bytes = [UInt8](test.bytes)
    var start = 0
    for cut in cuts + [bytes.count] where cut > start {
      client.receive(bytes[start..<cut])
      start = cut
    }
    if test.hold != true { client.receiveEnd() }
    return client
  }

  private func judge(_ test: ResponseCase, _ client: ClientSimulation) {
    switch test.expect {
    case "ok":
      #expect(client.error == nil)
      #expect(client.isComplete)
    case "error":
      #expect(client.error != nil)
    default:
      #expect(client.error != nil || client.isComplete)
    }
    guard client.isComplete else { return }
    #expect(client.status == test.status)
    if let body = test.body { #expect(client.body == [UInt8](body)) }
    if test.reuse == false { #expect(!client.canBeReused) }
    if test.expect == "ok", test.hold == true, test.reuse != false {
      #expect(client.canBeReused)
    }
  }
}
