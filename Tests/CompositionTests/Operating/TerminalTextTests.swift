import Storage
import Synchronization
import Testing

@testable import Composition

struct TerminalTextTests {
  @Test(
    "Colours are for terminals, and not with NO_COLOR or a terminal that has none",
    arguments: [
      (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false),
      (true, ["NO_COLOR": ""], true), (true, ["TERM": "dumb"], false),
    ] as [(Bool, [String: String], Bool)])
  func coloursAreForTerminals(isTerminal: Bool, environment: [String: String], isOn: Bool) {
    #expect(TerminalColors.isWanted(isTerminal: isTerminal, environment: environment) == isOn)
  }

  @Test("Painted text is between the sequences of its colour and of none")
  func paints() {
    #expect(TerminalColors(isOn: true).paint("FAULT", .red) == "\u{1B}[31mFAULT\u{1B}[0m")
    #expect(TerminalColors(isOn: false).paint("FAULT", .red) == "FAULT")
  }

  @Test("A progress line is written once for each percent, and removed at the end")
  func showsProgress() {
    let written = Mutex<[String]>([])
    let line = ProgressLine("Restoring", isOn: true) { text in written.withLock { $0.append(text) }
    }
    for done in [0, 1, 5, 10, 500, 1_000] { line.progress.report(done, of: 1_000) }
    line.end()
    line.end()
    #expect(
      written.withLock { $0 } == [
        "\rRestoring: 0 %", "\rRestoring: 1 %", "\rRestoring: 50 %", "\rRestoring: 100 %",
        "\r\u{1B}[K",
      ])
  }

  @Test("A wait shows its seconds, which are removed when it ends", arguments: [false, true])
  func showsWaits(fails: Bool) async {
    struct Failure: Error {}
    let written = Mutex<[String]>([])
    let line = ProgressLine("Waiting for a.example", isOn: true) { text in
      written.withLock { $0.append(text) }
    }
    let (seconds, tick) = AsyncStream<Void>.makeStream()
    let (shown, show) = AsyncStream<Void>.makeStream()
    let work: () async throws -> Void = {
      try await line.whileWaiting {
        show.yield()
        for await _ in seconds { return !Task.isCancelled }
        return false
      } _: {
        // The wait is asked for its first second, gets two, and is asked for a third.
        var asked = shown.makeAsyncIterator()
        await asked.next()
        tick.yield()
        await asked.next()
        tick.yield()
        await asked.next()
        if fails { throw Failure() }
      }
    }
    var hasFailed = false
    do { try await work() } catch { hasFailed = true }
    #expect(hasFailed == fails)
    #expect(
      written.withLock { $0 } == [
        "\rWaiting for a.example: 1 s", "\rWaiting for a.example: 2 s", "\r\u{1B}[K",
      ])
  }

  @Test("A wait where no terminal is asks for no time")
  func waitsSilently() async {
    let line = ProgressLine("Waiting", isOn: false) { _ in Issue.record("nothing is shown") }
    let value = await line.whileWaiting {
      Issue.record("no time is asked for")
      return false
    } _: {
      7
    }
    #expect(value == 7)
  }

  @Test(
    "The gravity of a finding and its caret are painted, and nothing else",
    arguments: [
      ("a.graphql:1:2: fault: no such field", "a.graphql:1:2: <31>fault</>: no such field"),
      ("12 |  films\n   |  ^", "12 |  films\n   |  <31>^</>"),
      ("warning: two: fault: one", "<33>warning</>: two: fault: one"),
      ("operations/b.gql: warning: x", "operations/b.gql: <33>warning</>: x"),
      ("breaking: Film: x\n\n1 fault", "<31>breaking</>: Film: x\n\n1 fault"),
      ("Open to anyone: Films: fault: x", "Open to anyone: Films: fault: x"), ("a ^", "a ^"),
      ("", ""),
    ])
  func paintsFindings(text: String, painted: String) {
    let expected = painted.replacing("</>", with: "\u{1B}[0m")
      .replacing("<31>", with: "\u{1B}[31m").replacing("<33>", with: "\u{1B}[33m")
    #expect(FindingColors.paint(text, TerminalColors(isOn: true)) == expected)
    #expect(FindingColors.paint(text, TerminalColors(isOn: false)) == text)
  }

  @Test("Nothing is written where no terminal is")
  func isSilentElsewhere() {
    let written = Mutex(0)
    let line = ProgressLine("Restoring", isOn: false) { _ in written.withLock { $0 += 1 } }
    line.progress.report(1, of: 2)
    line.end()
    #expect(written.withLock { $0 } == 0)
  }
}
