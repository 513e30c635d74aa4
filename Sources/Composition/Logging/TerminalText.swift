import FoundationEssentials
package import Storage
import Synchronization
import Transport

/// Colours for terminals, by the escape sequences of ECMA-48 (8.3.117). Nothing that a program reads has
/// them: they are used only if the stream is a terminal, and not if `NO_COLOR` is set (no-color.org).
package struct TerminalColors: Sendable {
  package enum Color: Int, Sendable {
    case red = 31
    case green = 32
    case yellow = 33
  }

  let isOn: Bool

  package init(isOn: Bool) { self.isOn = isOn }

  /// The colours of the standard output.
  package static func ofOutput(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> TerminalColors {
    TerminalColors(
      isOn: isWanted(isTerminal: StandardStream.output.isTerminal, environment: environment))
  }

  /// The colours of the standard error.
  package static func ofErrors(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> TerminalColors {
    TerminalColors(
      isOn: isWanted(isTerminal: StandardStream.error.isTerminal, environment: environment))
  }

  static func isWanted(isTerminal: Bool, environment: [String: String]) -> Bool {
    isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  func paint(_ text: String, _ color: Color?) -> String {
    guard isOn, let color else { return text }
    return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
  }
}

/// A line on a terminal that shows how far long work has come.
package final class ProgressLine: Sendable {
  private struct State {
    var percent = -1
    var isShown = false
  }

  private let title: String
  private let write: @Sendable (String) -> Void
  private let isOn: Bool
  private let state = Mutex(State())

  /// A line on the standard error, if that is a terminal; otherwise nothing is shown.
  package convenience init(_ title: String) {
    self.init(title, isOn: StandardStream.error.isTerminal) {
      StandardStream.error.write(Array($0.utf8))
    }
  }

  init(_ title: String, isOn: Bool, write: @escaping @Sendable (String) -> Void) {
    self.title = title
    self.isOn = isOn
    self.write = write
  }

  package var progress: WorkProgress {
    guard isOn else { return .ignored }
    return WorkProgress { [self] done, total in show(done, of: total) }
  }

  private func show(_ done: Int, of total: Int) {
    let percent = total > 0 ? min(100, done * 100 / total) : 100
    let isNews = state.withLock { state in
      defer {
        state.percent = percent
        state.isShown = true
      }
      return state.percent != percent
    }
    if isNews { write("\r\(title): \(percent) %") }
  }

  /// Runs work of unknown extent, and shows from the first second on how long it has taken.
  ///
  /// - Parameter second: returns after a second, and false if its task is cancelled.
  package func whileWaiting<Value: Sendable>(
    second: @escaping @Sendable () async -> Bool = {
      (try? await Task.sleep(for: .seconds(1))) != nil
    },
    _ work: () async throws -> Value
  ) async rethrows -> Value {
    guard isOn else { return try await work() }
    let ticks = Task { [self] in
      var seconds = 0
      while await second(), !Task.isCancelled {
        seconds += 1
        state.withLock { $0.isShown = true }
        write("\r\(title): \(seconds) s")
      }
    }
    defer { end() }
    do {
      let value = try await work()
      await Self.finish(ticks)
      return value
    } catch {
      await Self.finish(ticks)
      throw error
    }
  }

  private static func finish(_ ticks: Task<Void, Never>) async {
    ticks.cancel()
    await ticks.value
  }

  /// Removes the line, before other text follows.
  package func end() {
    let wasShown = state.withLock { state in
      defer { state.isShown = false }
      return state.isShown
    }
    if wasShown { write("\r\u{1B}[K") }
  }
}
