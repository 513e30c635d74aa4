import Foundation
import Model
import Testing

@testable import Composition

/// The pages of the manual that are lists of what the code has.
struct ManualTests {
  private static func page(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
  }

  @Test("docs/settings.md begins with what `larder settings --reference` prints")
  func settingsPage() throws {
    let page = try Self.page("settings.md")
    #expect(
      page.hasPrefix(SettingsReference.markdown),
      "write it again: larder settings --reference, and the page's last paragraph after it")
  }

  @Test("docs/command-line.md has the exit statuses of the help, with the same meanings")
  func exitStatuses() throws {
    let rows = ExitStatus.meanings.map { "| \($0.status) | \($0.meaning) |" }
    #expect(try Self.page("command-line.md").contains(rows.joined(separator: "\n")))
    let help = ExitStatus.help.split(separator: "\n")
    for (status, meaning) in ExitStatus.meanings {
      #expect(help.contains { $0.hasPrefix("  \(status) ") && $0.hasSuffix(meaning) })
    }
  }

  @Test("docs/problems.md has a heading for each code")
  func problemsPage() throws {
    let headings = Set(
      try Self.page("problems.md").split(separator: "\n").filter { $0.hasPrefix("### `") }
        .map { String($0.dropFirst(5).prefix { $0 != "`" }) })
    for code in Failure.Code.allCases {
      #expect(headings.contains(code.rawValue), "\(code.rawValue) is missing")
    }
  }
}
