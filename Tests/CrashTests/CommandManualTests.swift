import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// docs/command-line.md has what the commands' own help has, and nothing else.
  struct CommandManualTests {
    private static let page: [Substring] = {
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let text = try? String(
        contentsOf: root.appending(path: "docs/command-line.md"), encoding: .utf8)
      return (text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    }()

    /// Output of the binary without settings.
    private static func output(_ arguments: String...) throws -> (status: Int32, text: String) {
      let process = Process()
      let pipe = Pipe()
      process.executableURL = URL(filePath: LarderProgram.path)
      process.arguments = arguments
      process.standardOutput = pipe
      try process.run()
      let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// The commands without subcommands, by their whole names, with the names of their options.
    private static func commands(
      _ command: JSONValue, under parent: String = ""
    ) -> [(name: String, options: [String])] {
      let name = parent + (command["commandName"]?.string ?? "")
      let children = (command["subcommands"]?.array ?? []).filter { $0["commandName"] != "help" }
      guard children.isEmpty else { return children.flatMap { commands($0, under: name + " ") } }
      let options = (command["arguments"]?.array ?? []).filter {
        $0["shouldDisplay"]?.bool != false && $0["kind"] != "positional"
      }.compactMap { $0["preferredName"]?["name"]?.string }.filter { $0 != "help" }
      return [(name, options)]
    }

    /// The options in the table below a command's heading.
    private static func documentedOptions(of heading: String) -> [String] {
      guard let start = page.firstIndex(of: heading[...]) else { return [] }
      return page[(start + 1)...].prefix { !$0.hasPrefix("#") }
        .filter { $0.hasPrefix("| `--") }
        .map { String($0.dropFirst("| `--".count).prefix { $0 != " " && $0 != "`" && $0 != "=" }) }
    }

    @Test("The page has each command with its options, and no other command or option")
    func pageHasEveryCommand() throws {
      let help = try Self.output("--experimental-dump-help").text
      let root = try #require(try JSONValue(parsing: Array(help.utf8))["command"])
      let commands = Self.commands(root)
      #expect(commands.count >= 18)
      // Options of all commands are in one table of the page.
      let common = Set(Self.documentedOptions(of: "## Options of most commands"))
      #expect(common == ["config", "set"])
      for command in commands {
        let heading = "### `\(command.name)`"
        #expect(Self.page.contains(heading[...]), "\(heading) is missing")
        #expect(
          Set(Self.documentedOptions(of: heading)) == Set(command.options).subtracting(common),
          "\(command.name)")
      }
      let headings = Self.page.filter { $0.hasPrefix("### `larder ") }
        .map { String($0.dropFirst("### `".count).dropLast()) }
      #expect(Set(headings) == Set(commands.map(\.name)))
    }

    @Test("The page has the exit statuses of `larder --help`")
    func pageHasExitStatuses() throws {
      let help = try Self.output("--help").text
      let lines = help.split(separator: "\n").drop { !$0.contains("Exit statuses:") }.dropFirst()
      let statuses = lines.compactMap { line in
        line.split(separator: " ").first.flatMap { Int($0) }
      }
      #expect(statuses.count >= 12, "\(help)")
      let documented = Self.page.compactMap { line -> Int? in
        guard line.hasPrefix("| "), let cell = line.split(separator: "|").first else { return nil }
        return Int(cell.filter { $0 != " " })
      }
      #expect(documented == statuses)
    }

    @Test("The version is printed by a command and by an option, and scripts are not empty")
    func printsVersionAndScripts() throws {
      let version = try Self.output("version")
      #expect(version.status == 0 && !version.text.isEmpty)
      #expect(try Self.output("--version").text == version.text)
      for shell in ["bash", "zsh", "fish"] {
        let script = try Self.output("completion", shell)
        #expect(script.status == 0 && script.text.contains("restore"), "\(shell)")
        // The commands are completed after `help` too.
        #expect(script.text.split(separator: "init serve check").count > 1, "\(shell)")
      }
      #expect(try Self.output("completion", "tcsh").status == 64)
    }
  }
}
