/// Completes the commands after `larder help`, for which ArgumentParser's scripts offer nothing.
package struct HelpCompletion {
  private let program: String
  /// The names of the commands.
  private let commands: [String]
  /// Those of the commands of a group, such as `users`.
  private let groups: [(name: String, commands: [String])]

  package init(_ tree: CommandTree) {
    program = tree.name
    commands = tree.subcommands.map(\.name)
    groups = tree.subcommands.filter { !$0.subcommands.isEmpty }
      .map { ($0.name, $0.subcommands.map(\.name)) }
  }

  /// - Parameters:
  ///   - script: of ArgumentParser.
  ///   - shell: `bash`, `zsh` or `fish`.
  /// - Returns: the script with the names; the same script if it has another form than expected.
  package func adding(to script: String, for shell: String) -> String {
    switch shell {
    case "bash": script.replacing("_\(program)_help() {\n    :\n}", with: bash)
    case "zsh": zsh(script)
    case "fish": script + (script.hasSuffix("\n") ? "" : "\n") + fish
    default: script
    }
  }

  /// The words that follow `help` are in `unparsed_words`, the one that is written now as the last.
  private var bash: String {
    func line(_ names: [String]) -> String {
      "COMPREPLY+=($(compgen -W '\(names.joined(separator: " "))' -- \"${cur}\"))"
    }
    let cases = groups.map { "    '2 \($0.name)')\n        \(line($0.commands))\n        ;;\n" }
    return "_\(program)_help() {\n    case \"${#unparsed_words[@]} ${unparsed_words[0]}\" in\n"
      + "    '1 '*)\n        \(line(commands))\n        ;;\n\(cases.joined())    esac\n}"
  }

  private func zsh(_ script: String) -> String {
    guard let function = script.firstRange(of: "_\(program)_help() {\n"),
      let rest = script[function.upperBound...].firstRange(of: "        '*:subcommands:'\n")
    else { return script }
    let inner = groups.flatMap(\.commands)
    return script[..<rest.lowerBound]
      + "        '1:command:(\(commands.joined(separator: " ")))'\n"
      + "        '2:command:(\(inner.joined(separator: " ")))'\n" + script[rest.upperBound...]
  }

  private var fish: String {
    "complete -c '\(program)' -n '__\(program)_should_offer_completions_for_positional "
      + "\"\(program) help\" -eq 1' -fa '\(commands.joined(separator: " "))'\n"
  }
}
