import ArgumentParser
import Composition

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Prints the version.")

  func run() throws { StandardStreams.output(Version.text) }
}

struct Completion: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints a script that completes commands and options in a shell.",
    discussion: """
      bash: larder completion bash > /etc/bash_completion.d/larder
      zsh:  larder completion zsh > "${fpath[1]}/_larder"
      fish: larder completion fish > ~/.config/fish/completions/larder.fish
      """)

  enum Shell: String, CaseIterable, ExpressibleByArgument {
    case bash
    case zsh
    case fish
  }

  @Argument(help: "The shell: bash, zsh or fish.")
  var shell: Shell

  func run() throws {
    let parserShell: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    let script = Larder.completionScript(for: parserShell)
    let completion = CommandTree(help: Larder._dumpHelp()).map(HelpCompletion.init)
    StandardStreams.output(completion?.adding(to: script, for: shell.rawValue) ?? script)
  }
}
