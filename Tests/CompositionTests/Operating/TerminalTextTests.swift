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

  @Test("Nothing is written where no terminal is")
  func isSilentElsewhere() {
    let written = Mutex(0)
    let line = ProgressLine("Restoring", isOn: false) { _ in written.withLock { $0 += 1 } }
    line.progress.report(1, of: 2)
    line.end()
    #expect(written.withLock { $0 } == 0)
  }
}
