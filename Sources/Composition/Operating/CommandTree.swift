import GraphQL
import LosslessJSON

/// The commands of a program with their options, as its help describes them; finds what is mistyped.
package struct CommandTree: Sendable {
  package struct Option: Sendable {
    /// Without dashes.
    let names: [String]
    let takesValue: Bool
    let isShort: Bool
  }

  package let name: String
  let options: [Option]
  let subcommands: [CommandTree]

  /// - Parameter help: the JSON that ArgumentParser's `--experimental-dump-help` prints.
  /// - Returns: nil if the text has another form.
  package init?(help: String) {
    guard let command = (try? JSONValue(parsing: Array(help.utf8)))?["command"] else { return nil }
    self.init(command)
  }

  private init?(_ command: JSONValue) {
    guard let name = command["commandName"]?.string else { return nil }
    self.name = name
    options = (command["arguments"]?.array ?? []).compactMap { argument in
      guard let kind = argument["kind"]?.string, kind != "positional" else { return nil }
      let names = argument["names"]?.array ?? []
      return Option(
        names: names.compactMap { $0["name"]?.string }, takesValue: kind == "option",
        isShort: names.allSatisfy { $0["kind"]?.string == "short" })
    }
    subcommands = (command["subcommands"]?.array ?? []).compactMap { CommandTree($0) }
  }

  /// Returns a message for the first command or option that does not exist; nil if there is none.
  ///
  /// - Parameter arguments: those after the program's name.
  package func mistake(in arguments: [String]) -> String? {
    var command = self
    var path = name
    var skipsValue = false
    for argument in arguments {
      if skipsValue {
        skipsValue = false
      } else if argument == "--" {
        return nil
      } else if argument.hasPrefix("--") {
        let name = String(argument.dropFirst(2).prefix { $0 != "=" })
        guard let option = command.options.first(where: { $0.names.contains(name) }) else {
          let known = command.options.filter { !$0.isShort }.flatMap(\.names)
            .filter { $0.count > 1 }
          return Self.message(
            "Unknown option '--\(name)'",
            NearestNames.suggestions(for: name, among: known).map { "--\($0)" }, path)
        }
        skipsValue = option.takesValue && !argument.contains("=")
      } else if argument.hasPrefix("-") {
        continue
      } else if !command.subcommands.isEmpty {
        guard let next = command.subcommands.first(where: { $0.name == argument }) else {
          if argument == "help" { return nil }
          return command.unknown(argument, path)
        }
        command = next
        path += " \(next.name)"
      }
    }
    return nil
  }

  /// Returns a message for the first name after `help` that is no command; nil if there is none.
  ///
  /// - Parameter arguments: those after the program's name.
  package func mistakeOfHelp(in arguments: [String]) -> String? {
    guard arguments.first == "help" else { return nil }
    var command = self
    var path = name
    for argument in arguments.dropFirst() where !argument.hasPrefix("-") {
      guard let next = command.subcommands.first(where: { $0.name == argument }) else {
        return argument == "help" ? nil : command.unknown(argument, path)
      }
      command = next
      path += " \(next.name)"
    }
    return nil
  }

  /// The longest list of commands that a message names.
  private static let namedMax = 8

  /// The message for a name that is no command of this one.
  private func unknown(_ argument: String, _ path: String) -> String {
    let known = subcommands.map(\.name)
    let near = NearestNames.suggestions(for: argument, among: known)
    let isShort = !known.isEmpty && known.count <= Self.namedMax
    let list = near.isEmpty && isShort ? " There are \(Self.list(known))." : ""
    return Self.message("Unknown command '\(argument)'", near, path, otherwise: list)
  }

  private static func list(_ names: [String]) -> String {
    let quoted = names.map { "'\($0)'" }
    guard quoted.count > 1, let last = quoted.last else { return quoted.joined() }
    return "\(quoted.dropLast().joined(separator: ", ")) and \(last)"
  }

  private static func message(
    _ fault: String, _ suggestions: [String], _ path: String, otherwise: String = ""
  ) -> String {
    let hint = suggestions.first.map { " Did you mean '\($0)'?" } ?? otherwise
    return "Error: \(fault).\(hint)\nSee '\(path) --help'."
  }
}
