import Testing

@testable import Gateway

struct LogRingTests {
  private func texts(_ page: LogRing.Page) -> [String] { page.lines.map(\.message) }

  private func line(_ level: String, _ message: String, _ fields: String = "") -> [UInt8] {
    Array("2026-01-02T03:04:05.678Z \(level) larder: \(message)\(fields)\n".utf8)
  }

  @Test("Lines of both formats are read back as they were written")
  func readsBothFormats() throws {
    let ring = LogRing()
    ring.take(
      line("warning", "upstream calls fail", #" cause="no route: \"x\"" request_id=r-1 n=3"#))
    ring.take(
      Array(
        (#"{"time":"2026-01-02T03:04:05.678Z","level":"info","logger":"larder","message":"request","#
          + #""method":"GET","target":"/a b","status":200,"request_id":"r-2"}"# + "\n").utf8))
    ring.take(line("info", #""two\nlines""#, " a=b"))
    ring.take(Array("no form of ours\n".utf8))
    let lines = ring.page(.init(limit: 10)).lines
    #expect(lines.map(\.id) == [1, 2, 3, 4])
    #expect(lines[0].time == "2026-01-02T03:04:05.678Z" && lines[0].level == "warning")
    #expect(lines[0].logger == "larder" && lines[0].message == "upstream calls fail")
    #expect(
      lines[0].fields.map { "\($0.name)=\($0.value)" }
        == [#"cause=no route: "x""#, "request_id=r-1", "n=3"])
    #expect(lines[1].message == "request" && lines[1]["status"] == "200")
    #expect(lines[1]["target"] == "/a b" && lines[1]["request_id"] == "r-2")
    #expect(lines[2].message == "two\nlines" && lines[2]["a"] == "b")
    #expect(lines[3].message == "no form of ours" && lines[3].level == "")
  }

  @Test("The reader filters by level, request and logger, and reads on after an id")
  func filters() {
    let ring = LogRing()
    for (number, level) in ["debug", "info", "notice", "warning", "error"].enumerated() {
      ring.take(line(level, "m\(number)", " request_id=r-\(number % 2)"))
    }
    #expect(texts(ring.page(.init(level: "notice", limit: 10))) == ["m2", "m3", "m4"])
    #expect(texts(ring.page(.init(requestID: "r-1", limit: 10))) == ["m1", "m3"])
    #expect(texts(ring.page(.init(logger: "other", limit: 10))) == [])
    #expect(texts(ring.page(.init(limit: 2))) == ["m3", "m4"])
    let first = ring.page(.init(after: 0, limit: 2))
    #expect(texts(first) == ["m0", "m1"] && first.next == 2 && first.oldest == 1)
    let second = ring.page(.init(after: first.next, level: "warning", limit: 2))
    #expect(texts(second) == ["m3", "m4"] && second.next == 5)
    #expect(texts(ring.page(.init(after: second.next, limit: 2))) == [])
    ring.take(line("info", "m5"))
    #expect(texts(ring.page(.init(after: second.next, limit: 2))) == ["m5"])
  }

  @Test("The memory is bounded, and requests do not push out other lines")
  func isBounded() {
    let ring = LogRing(bytesMax: 1_000)
    ring.take(line("error", "the disk is full"))
    for number in 0..<100 {
      ring.take(line("info", "request", " method=GET target=/\(number) status=200"))
    }
    let page = ring.page(.init(limit: 1_000))
    #expect(page.lines.first?.message == "the disk is full" && page.lines.count < 20)
    #expect(page.next == 101 && page.oldest == 1)
    #expect(page.lines.last?["target"] == "/99")
    for number in 0..<100 { ring.take(line("error", "e\(number)")) }
    let errors = ring.page(.init(level: "error", limit: 1_000))
    #expect(errors.lines.count < 30 && errors.lines.last?.message == "e99")
    #expect(errors.lines.first?.message != "the disk is full")
  }

  @Test("Lines that were written at once are each found")
  func readsBatches() {
    let ring = LogRing()
    let many = (0..<5).flatMap { line("info", "request", " method=GET target=/\($0)") }
    ring.take(many)
    ring.take(line("info", "later"))
    ring.take([])
    let page = ring.page(.init(after: 3, limit: 10))
    #expect(page.lines.map(\.id) == [4, 5, 6] && page.lines[0]["target"] == "/3")
    #expect(texts(ring.page(.init(limit: 3))) == ["request", "request", "later"])
  }
}
