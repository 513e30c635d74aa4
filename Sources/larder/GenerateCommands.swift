import ArgumentParser
import Composition
import Generation

struct Generate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Generates a client's types of the entities and operations.",
    discussion: """
      Only files that begin with the line of a generated file are overwritten or removed. With --check \
      nothing is written; the exit status is 1 if files are stale, missing, surplus or not generated. Faults \
      of operations and names are status 65, as without --check.
      """,
    subcommands: [InSwift.self, InTypeScript.self, InKotlin.self])

  struct InSwift: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "swift", abstract: "Generates Swift for the module Larder.")

    @OptionGroup var options: GenerateOptions

    func run() throws { try options.generate(.swift) }
  }

  struct InTypeScript: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "typescript", abstract: "Generates a TypeScript module.")

    @OptionGroup var options: GenerateOptions

    func run() throws { try options.generate(.typescript) }
  }

  struct InKotlin: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "kotlin", abstract: "Generates Kotlin for kotlinx.serialization.")

    @OptionGroup var options: GenerateOptions

    func run() throws { try options.generate(.kotlin) }
  }
}

/// The flags of every language.
struct GenerateOptions: ParsableArguments {
  @OptionGroup var settings: SettingsOptions

  @Option(help: "The folder of the generated files.", completion: .directory)
  var output: String

  @Flag(help: "Write nothing; fail if the folder's files are not those that would be written.")
  var check = false

  func generate(_ language: TargetLanguage) throws {
    let report = try GenerateCommand(
      settings.load(), language: language, folder: output, isCheck: check
    ).run()
    StandardStreams.output(report.text)
    if !report.isCurrent { throw ExitCode.failure }
  }
}
