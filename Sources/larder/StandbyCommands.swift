import ArgumentParser
import Composition

struct StandbyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "standby",
    abstract: "Shows what a primary and its standby share, and leaves it.",
    discussion: """
      The commands read standby.folder or standby.bucket of the settings, so they work while no machine runs. To run a \
      standby, use larder serve --standby; to restore a moment, larder restore --at.
      """,
    subcommands: [Status.self, Leave.self])

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the lease, the end of the log, and the snapshots.",
      discussion: "larder standby status --json | jq .lease.host")

    @OptionGroup var settings: SettingsOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
      StandardStreams.output(
        try await StandbyCommands(settings.load().settings).status(isJSON: json))
    }
  }

  struct Leave: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes the data folder that of a single machine without a standby.",
      discussion: "The service must be stopped. What is shared stays as it is.")

    @OptionGroup var settings: SettingsOptions

    func run() throws {
      StandardStreams.output(try StandbyCommands(settings.load().settings).leave())
    }
  }
}
