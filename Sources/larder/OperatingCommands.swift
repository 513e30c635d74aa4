import ArgumentParser
import Composition

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Diagnoses settings, folders, database, operations and upstream.")

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Read every page of the database and compare its indexes with its tables.")
  var deep = false

  func run() async throws {
    let report = await DoctorReport.examine(try settings.load(), isDeep: deep)
    StandardStreams.output(report.text)
    if !report.isHealthy { throw ExitCode.failure }
  }
}

struct Health: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks a running service; for container health checks.")

  @OptionGroup var settings: SettingsOptions

  func run() async throws {
    let loaded = try settings.load()
    guard await HealthProbe(loaded.settings).isHealthy() else { throw ExitCode.failure }
  }
}

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Backs up the database, whether the service runs or not.",
    discussion: """
      The backup is a complete database. To restore it, copy it to an empty data folder as \
      larder.sqlite. It does not contain the key file of the data folder. With data.encryption it is \
      encrypted; decrypt-backup makes the database of it.
      """)

  @OptionGroup var settings: SettingsOptions

  @Option(
    help: "The file to create, which must not exist (default: a new one in the folder backups).",
    completion: .file())
  var to: String?

  func run() throws {
    StandardStreams.output(try BackupCommand(settings.load().settings, path: to).run())
  }
}
