import HTTPWire
import TestSupport
import Testing

/// Every raw request case through parser, body decoder and connection, however it is cut.
struct RequestCorpusTests {
  private static let refusals: Set<Int> = [400, 408, 411, 413, 414, 417, 421, 426, 431, 501, 505]

  @Test("The corpus of requests is loaded")
  func corpusIsLoaded() {
    #expect(WireFixtures.requests.count == 368)
  }

  @Test(
    "Each raw request has its expected outcome",
    arguments: WireFixtures.requests)
  func meetsItsExpectation(_ test: RequestCase) {
    judge(test, run(test, cuts: []))
  }

  @Test(
    "Each raw request has its expected outcome when sent byte by byte",
    arguments: WireFixtures.requests)
  func meetsItsExpectationByteByByte(_ test: RequestCase) {
    judge(test, run(test, cuts: Array(1..<max(test.bytes.count, 1))))
  }

  @Test(
    "The outcome of a request does not depend on how it is split",
    arguments: [0x51, 0x52, 0x53, 0x54])
  func doesNotDependOnSplits(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for test in WireFixtures.requests where test.bytes.count > 1 {
      let cuts = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Int.random(in: 1..<test.bytes.count, using: &random)
      }
      let whole = run(test, cuts: [])
      let pieces = run(test, cuts: cuts.sorted())
      #expect(whole.statuses == pieces.statuses, "\(test.id), seed \(seed), cuts \(cuts)")
      #expect(whole.isClosed == pieces.isClosed, "\(test.id), seed \(seed), cuts \(cuts)")
    }
  }

  private func run(_ test: RequestCase, cuts: [Int]) -> ServerSimulation {
    var server = ServerSimulation()
    let bytes = [UInt8](test.bytes)
    var start = 0
    for cut in cuts + [bytes.count] where cut > start {
      server.receive(bytes[start..<cut])
      start = cut
    }
    return server
  }

  private func judge(_ test: RequestCase, _ server: borrowing ServerSimulation) {
    let isClosed = server.isClosed
    var classes = server.statuses.map { Self.refusals.contains($0) ? "reject" : "ok" }
    if classes.isEmpty { classes = [isClosed ? "reject" : "wait"] }
    if let sequences = test.sequences {
      #expect(sequences.contains(classes))
    } else if !(classes[0] == "wait" && test.wait == true) {
      let expected = test.expect == "either" ? test.prefer ?? "either" : test.expect
      #expect(expected == "either" ? classes[0] != "wait" : classes[0] == expected)
      if let n = test.n, classes[0] == "ok" { #expect(server.statuses.count == n) }
    }
    #expect(server.statuses.count <= test.max ?? .max)
    if test.close == true, classes[0] != "wait" { #expect(isClosed) }
    if test.close == false, classes[0] == "ok" { #expect(!isClosed) }
    for status in server.statuses {
      #expect(!(test.forbid ?? []).contains { $0 == "\(status)" || $0 == "\(status / 100)xx" })
    }
    if classes[0] == "reject", let wanted = test.status, let first = server.statuses.first {
      #expect(wanted.contains(first))
    }
  }
}
