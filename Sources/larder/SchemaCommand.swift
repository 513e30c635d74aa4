import ArgumentParser
import Composition

struct SchemaCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Works on the upstream schema.", subcommands: [Pull.self])

  struct Pull: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Asks upstream for its schema and writes it to the schema file.")

    @OptionGroup var settings: SettingsOptions

    @Option(help: "Where to write; the schema file of the settings if not given, - for output.")
    var output: String?

    func run() async throws {
      let loaded = try settings.load(requiring: ["upstream.url"])
      try await SchemaPull(loaded.settings).run(output: output)
    }
  }
}
