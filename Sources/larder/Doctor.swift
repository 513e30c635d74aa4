import ArgumentParser
import Composition

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Looks over settings, folders, database, operations and upstream.")

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Reads every page of the database and compares its indexes with its tables.")
  var deep = false

  func run() async throws {
    let report = await DoctorReport.examine(try settings.load(), isDeep: deep)
    StandardStreams.output(report.text)
    if !report.isHealthy { throw ExitCode.failure }
  }
}
