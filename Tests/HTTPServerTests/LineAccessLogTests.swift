import HTTPServer
import HTTPWire
import Synchronization
import Testing
import Transport

struct LineAccessLogTests {
  private func line(
    isJSON: Bool, target: String, requestID: String = "r1", facts: LoggedFacts = LoggedFacts(),
    traceID: String = "", userAgent: String = ""
  ) -> String {
    let log = LineAccessLog(label: "larder", isJSON: isJSON) { _ in }
    var notes: [UInt8] = []
    log.append(
      AccessLogEntry(
        method: target.isEmpty ? nil : .get, target: ArraySlice(target.utf8), status: 200,
        bytes: 12,
        nanoseconds: 345_678, requestID: ArraySlice(requestID.utf8),
        remoteAddress: .ipv4(0x7F00_0001, port: 1), time: 784_111_777_089, facts: facts,
        traceID: ArraySlice(traceID.utf8), userAgent: ArraySlice(userAgent.utf8)),
      to: &notes)
    return String(decoding: notes, as: UTF8.self)
  }

  @Test("A text line has all values")
  func formatsTextLine() {
    #expect(
      line(isJSON: false, target: "/a?b=1")
        == "1994-11-06T08:49:37.089Z info larder: request method=GET target=/a?b=1 status=200"
        + " bytes=12 duration_us=345 request_id=r1 remote=127.0.0.1\n")
  }

  @Test("A JSON line has all values")
  func formatsJSONLine() {
    #expect(
      line(isJSON: true, target: "/a")
        == #"{"time":"1994-11-06T08:49:37.089Z","level":"info","logger":"larder","message":"request","#
        + #""method":"GET","target":"/a","status":200,"bytes":12,"duration_us":345,"#
        + #""request_id":"r1","remote":"127.0.0.1"}"# + "\n")
  }

  private static let facts: LoggedFacts = {
    var facts = LoggedFacts()
    facts.operation = "Film"
    facts.cacheUse = .staleIfError
    facts.upstreamNanoseconds = 2_345_678
    facts.caller = LoggedCaller(user: "auth0|\"a b", device: "d_1")
    return facts
  }()

  @Test("A line has what the handler knew, the trace and the client program")
  func factsAreLogged() {
    let trace = String(repeating: "ab", count: 16)
    let agent = "curl/8 \"x\" \\ \u{E9}"
    #expect(
      line(isJSON: false, target: "/a", facts: Self.facts, traceID: trace, userAgent: agent)
        .hasSuffix(
          #" remote=127.0.0.1 operation=Film cache=stale_if_error upstream_us=2345"#
            + #" user="auth0|\"a b" device=d_1 trace_id=\#(trace)"#
            + #" user_agent="curl/8 \"x\" \\ \u00c3\u00a9""# + "\n"))
    #expect(
      line(isJSON: true, target: "/a", facts: Self.facts, traceID: trace, userAgent: agent)
        .hasSuffix(
          #""remote":"127.0.0.1","operation":"Film","cache":"stale_if_error","upstream_us":2345,"#
            + #""user":"auth0|\"a b","device":"d_1","trace_id":"\#(trace)","#
            + #""user_agent":"curl/8 \"x\" \\ \u00c3\u00a9"}"# + "\n"))
  }

  @Test("The name of the client program is cut")
  func userAgentIsCut() {
    let line = line(isJSON: false, target: "/a", userAgent: String(repeating: "x", count: 5_000))
    #expect(line.hasSuffix(#" user_agent=""# + String(repeating: "x", count: 200) + "\"\n"))
  }

  @Test(
    "Targets are logged without secrets and with escaped quotes",
    arguments: [
      ("/a?x=1&ticket=secret&y=2", "/a?x=1&ticket=...&y=2"),
      ("/a?ticket=secret", "/a?ticket=..."),
      ("/a?%74icket=secret&b=%41", "/a?ticket=...&b=%41"),
      ("/a?b=%zz&tic%6B%65t%3dsecret", "/a?b=%zz&ticket=..."),
      ("/a?%74icket=%zzsecret", "/a?ticket=..."),
      ("/a?ticket%", "/a?ticket%"),
      ("/a?noticket=1", "/a?noticket=1"),
      ("/a?Ticket=secret", "/a?ticket=..."),
      (
        "/v1/files/pics/a.txt?expires=9&signature=secret&Signature=secret",
        "/v1/files/pics/a.txt?expires=9&signature=...&signature=..."
      ),
      (
        "/s3/pics/a?X-Amz-Date=1&X-Amz-Signature=secret&x-amz-security-token=secret",
        "/s3/pics/a?X-Amz-Date=1&x-amz-signature=...&x-amz-security-token=..."
      ),
      ("/a?X%2DAmz%2dSIGNATURE=secret", "/a?x-amz-signature=..."),
      ("/a?access_token=secret&&apiKey=secret&", "/a?access_token=...&&apikey=...&"),
      ("/a?pageToken=p1&tokens=2&token", "/a?pageToken=p1&tokens=2&token"),
      ("/ticket=1", "/ticket=1"),
      ("", "-"),
      (#"/a?b="\"#, #""/a?b=\"\\""#),
    ])
  func targetsAreShownWithoutSecretsAndQuotes(target: String, shown: String) {
    #expect(line(isJSON: false, target: target).contains(" target=\(shown) status="))
  }

  @Test("Submitted lines are written in order before the end")
  func submittedLinesAreWrittenInOrder() async {
    let written = Mutex<[UInt8]>([])
    let log = LineAccessLog(label: "larder", isJSON: false) { lines in
      written.withLock { $0.append(contentsOf: lines) }
    }
    let batches = (0..<500).map { Array("\($0)\n".utf8) }
    for batch in batches { log.take(batch) }
    await log.finish()
    #expect(written.withLock { $0 } == Array(batches.joined()))
  }
}
