import Testing

@testable import Composition

struct CommandTreeTests {
  /// In the form of `--experimental-dump-help`.
  private static let help = #"""
    {"command": {"commandName": "larder",
      "arguments": [
        {"kind": "flag", "names": [{"kind": "long", "name": "version"}]},
        {"kind": "flag", "names": [{"kind": "short", "name": "h"}, {"kind": "long", "name": "help"}]}],
      "subcommands": [
        {"commandName": "serve", "arguments": [
          {"kind": "option", "names": [{"kind": "long", "name": "config"}]},
          {"kind": "option", "names": [{"kind": "long", "name": "set"}]},
          {"kind": "option", "names": [{"kind": "long", "name": "demo-port"}]},
          {"kind": "flag", "names": [{"kind": "long", "name": "demo"}]}]},
        {"commandName": "restore", "arguments": [
          {"kind": "positional", "valueName": "backup"},
          {"kind": "flag", "names": [{"kind": "long", "name": "force"}]}]},
        {"commandName": "generate", "subcommands": [
          {"commandName": "swift", "arguments": []}, {"commandName": "kotlin", "arguments": []}]}
      ]}, "serializationVersion": 0}
    """#

  private let tree: CommandTree

  init() throws { tree = try #require(CommandTree(help: Self.help)) }

  @Test(
    "A mistyped command or option is named with the nearest one that exists",
    arguments: [
      (["serv"], "Error: Unknown command 'serv'. Did you mean 'serve'?\nSee 'larder --help'."),
      (
        ["zzz"],
        "Error: Unknown command 'zzz'. There are 'serve', 'restore' and 'generate'.\nSee 'larder --help'."
      ),
      (
        ["generate", "swfit"],
        "Error: Unknown command 'swfit'. Did you mean 'swift'?\nSee 'larder generate --help'."
      ),
      (
        ["serve", "--confg", "a"],
        "Error: Unknown option '--confg'. Did you mean '--config'?\nSee 'larder serve --help'."
      ),
      (
        ["serve", "--demoport=1"],
        "Error: Unknown option '--demoport'. Did you mean '--demo-port'?\nSee 'larder serve --help'."
      ),
      (
        ["generate", "rust"],
        "Error: Unknown command 'rust'. There are 'swift' and 'kotlin'.\nSee 'larder generate --help'."
      ),
      // Nothing is near enough to be meant.
      (
        ["serve", "--colour"], "Error: Unknown option '--colour'.\nSee 'larder serve --help'."
      ),
      (
        ["--vesion"],
        "Error: Unknown option '--vesion'. Did you mean '--version'?\nSee 'larder --help'."
      ),
    ] as [([String], String)])
  func suggests(arguments: [String], message: String) {
    #expect(tree.mistake(in: arguments) == message)
  }

  @Test(
    "Help for a command that does not exist names the nearest one",
    arguments: [
      (
        ["help", "generat"],
        "Error: Unknown command 'generat'. Did you mean 'generate'?\nSee 'larder --help'."
      ),
      (
        ["help", "generate", "swif"],
        "Error: Unknown command 'swif'. Did you mean 'swift'?\nSee 'larder generate --help'."
      ),
      (
        ["help", "serve", "more"],
        "Error: Unknown command 'more'.\nSee 'larder serve --help'."
      ),
      (["help"], nil), (["help", "serve"], nil), (["help", "help"], nil), (["serv"], nil),
      (["help", "--help"], nil), (["help", "generate", "kotlin"], nil), ([], nil),
    ] as [([String], String?)])
  func checksHelp(arguments: [String], message: String?) {
    #expect(tree.mistakeOfHelp(in: arguments) == message)
  }

  @Test("Scripts complete the commands after help, and otherwise stay as they are")
  func completesHelp() {
    let completion = HelpCompletion(tree)
    let bash = completion.adding(to: "a\n_larder_help() {\n    :\n}\nb", for: "bash")
    #expect(bash.hasPrefix("a\n_larder_help() {\n") && bash.hasSuffix("    esac\n}\nb"))
    #expect(bash.contains("compgen -W 'serve restore generate' -- \"${cur}\""))
    #expect(bash.contains("'2 generate')\n        COMPREPLY+=($(compgen -W 'swift kotlin'"))
    let zsh = completion.adding(
      to:
        "_larder_x() {\n        '*:subcommands:'\n}\n_larder_help() {\n        '*:subcommands:'\n}\n",
      for: "zsh")
    #expect(zsh.hasPrefix("_larder_x() {\n        '*:subcommands:'\n}\n"))
    #expect(
      zsh.contains("'1:command:(serve restore generate)'\n        '2:command:(swift kotlin)'\n"))
    #expect(completion.adding(to: "x", for: "fish").hasPrefix("x\ncomplete -c 'larder' -n "))
    for shell in ["bash", "zsh"] { #expect(completion.adding(to: "x", for: shell) == "x") }
  }

  @Test(
    "Valid arguments are no mistake, and neither are values that look like options",
    arguments: [
      [], ["serve"], ["serve", "--config", "serv"], ["serve", "--set", "--x", "--demo"],
      ["restore", "anything", "--force"], ["restore", "--", "--odd"], ["help", "serve"],
      ["--help"], ["serve", "-h"], ["generate", "kotlin"],
    ] as [[String]])
  func passes(arguments: [String]) {
    #expect(tree.mistake(in: arguments) == nil)
  }

  @Test(
    "Text that is not the help's JSON has no tree", arguments: ["", "{}", "[1]", "{\"command\":1}"])
  func refusesOtherText(text: String) {
    #expect(CommandTree(help: text) == nil)
  }
}
