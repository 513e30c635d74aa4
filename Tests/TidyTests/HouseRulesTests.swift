import Foundation
import Testing

struct HouseRulesTests {
  /// Banned words, and the modules where each is allowed.
  @Test(
    "Sources avoid banned words outside the modules that need them",
    arguments: [
      ("@_exported", []),
      ("try!", []),
      // It ends the process for the least integer: use `magnitude`, or a range that contains it.
      ("abs(", []),
      ("Thread.sleep", []),
      ("ProcessInfo.processInfo.environment", ["Composition", "larder"]),
      // Transport: the output file of the debug builds' watch on event loops.
      ("getenv(", ["Composition", "larder", "Transport"]),
      ("SystemRandomNumberGenerator()", ["Composition", "larder"]),
      ("ContinuousClock.now", ["Composition", "larder", "Transport"]),
      ("Date()", ["Composition", "larder"]),
    ])
  func sourcesAvoid(word: String, rooms: [String]) {
    for file in SourceTree.sources where !rooms.contains(file.module) {
      for (number, line) in file.lines.enumerated() where says(line, word) {
        let isComment = line.trimmingCharacters(in: .whitespaces).hasPrefix("//")
        #expect(isComment, "\(file.path):\(number + 1) says \(word)")
      }
    }
  }

  /// Whether a line has the word, not as the end of a longer one (`Country!`, `HTTPDate()`).
  private func says(_ line: String, _ word: String) -> Bool {
    line.ranges(of: word).contains { range in
      guard let before = line[..<range.lowerBound].last else { return true }
      return !before.isLetter && !before.isNumber
    }
  }

  /// A type that is generic over its content wraps a closure again at each access, until a call overflows the
  /// stack.
  @Test("A mutex does not hold a bare closure")
  func closuresAreLockedWithinAStruct() {
    for file in SourceTree.sources + SourceTree.tests where file.module != "TidyTests" {
      for (number, line) in file.lines.enumerated() {
        let isBare = line.contains(/Mutex(<|\()[\[(]*@(Sendable|escaping)|Mutex<.*->/)
        #expect(!isBare, "\(file.path):\(number + 1) locks a closure: put it into a struct")
      }
    }
  }

  @Test("Every unchecked Sendable has a SAFETY comment")
  func uncheckedSendabilityIsExplained() {
    for file in SourceTree.sources + SourceTree.clients {
      for (number, line) in file.lines.enumerated()
      where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
        let before = file.lines[max(0, number - 6)..<number].joined(separator: "\n")
        #expect(before.contains("// SAFETY:"), "\(file.path):\(number + 1) lacks a SAFETY line")
      }
    }
  }

  @Test("No file has a catch-all name")
  func fileNamesAreSpecific() {
    let banned = ["Utils", "Helpers", "Common", "Manager"]
    for file in SourceTree.sources + SourceTree.tests {
      let name = file.path.split(separator: "/").last ?? ""
      for word in banned { #expect(!name.contains(word), "\(file.path)") }
    }
  }

  @Test("Tests do not sleep")
  func testsDoNotSleep() {
    for file in SourceTree.tests where file.module != "TidyTests" {
      for (number, line) in file.lines.enumerated() {
        let sleeps = line.contains("Thread.sleep") || line.contains("usleep(")
        #expect(!sleeps, "\(file.path):\(number + 1) sleeps")
      }
    }
  }

  @Test("No source file is longer than 500 lines")
  func filesHaveALengthLimit() {
    let limit = 500
    for file in SourceTree.sources {
      #expect(file.lines.count <= limit, "\(file.path) has \(file.lines.count) lines")
    }
  }
}
